import type { Clock } from "./clock.ts";

/**
 * What `work` gives, or at the limit what `late` gives or throws. The work goes on all the same; what it gives after that is
 * dropped. Without a clock there is no limit.
 */
export function within<T>(
  clock: Clock | undefined,
  limitMs: number,
  work: Promise<T>,
  late: () => T | Promise<T>,
): Promise<T> {
  if (clock === undefined) return work;
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    });
    work.then(resolve, reject).finally(cancel);
  });
}
