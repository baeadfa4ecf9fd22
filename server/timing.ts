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

const DAY_MS = 86_400_000;
