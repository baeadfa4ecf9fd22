import type { Clock } from "../env/clock.ts";

/** How long opening a database may take, in milliseconds, and a transaction. */
export const OPEN_LIMIT_MS = 8_000;
export const TRANSACTION_LIMIT_MS = 30_000;

/** The work's outcome, or that of `late` when it has none in time. Without a clock there is no limit. */
export async function withinTime<R>(
  clock: Clock | undefined,
  limitMs: number,
  work: Promise<R>,
  late: () => R | Promise<R>,
): Promise<R> {
  if (clock === undefined) return work;
  let stop = (): void => {};
  const limit = new Promise<R>((resolve, reject) => {
    stop = clock.after(limitMs, () => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    });
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    stop();
  }
}
