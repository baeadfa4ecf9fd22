/** Waits until `check` gives something, asking again whenever `watch` wakes it. */
export async function until<T>(
  watch: (wake: () => void) => () => void,
  check: () => Promise<T | undefined>,
): Promise<T> {
  let wake = (): void => undefined;
  let woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const end = watch(() => wake());
  try {
    for (;;) {
      const result = await check();
      if (result !== undefined) return result;
      await woken;
      woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    end();
  }
}
