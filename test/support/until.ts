import { setTimeout } from "node:timers/promises";

/** Looks until it is so; also where there is no test around it. The limit only bounds a failing run on a busy machine. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  options: { timeoutMs?: number } = {},
): Promise<void> {
  const limit = Date.now() + (options.timeoutMs ?? 60_000);
  while (!(await isSo())) {
    if (Date.now() > limit) throw new Error(`It never came to this: ${what}`);
    await setTimeout(20);
  }
}
