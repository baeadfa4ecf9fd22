import type { Clock } from "../src/env/clock.ts";

/** Runs `fire` at a time however far off: timers of some clocks end at 24 days. Answers how to cancel. */
export function atTime(clock: Clock, timeMs: number, fire: () => void): () => void {
  let cancel = (): void => {};
  const wait = (): void => {
    const leftMs = timeMs - clock.now();
    cancel = leftMs > DAY_MS ? clock.after(DAY_MS, wait) : clock.after(Math.max(0, leftMs), fire);
  };
  wait();
  return () => cancel();
}

/** What `work` gives, or `late` when it takes longer. What it gives after that is dropped. */
export function within<T>(clock: Clock, timeoutMs: number, work: Promise<T>, late: T): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => resolve(late));
    work.then(resolve, reject).finally(cancel);
  });
}

const DAY_MS = 86_400_000;
