/** Runs synchronous work and stops it at a limit of time, wherever it stands. For foreign input whose cost nobody can tell
 *  from its size. @throws TimeBoxError when it was stopped, and whatever the work throws */
export type TimeBox = <R>(limitMs: number, work: () => R) => R;

/** The work did not end in its time. What it had begun is left as it was at that moment: not to be used any more. */
export class TimeBoxError extends Error {
  override readonly name = "TimeBoxError";
}

/** Where nothing can stop work that runs, as in a browser's page. */
export const unbounded: TimeBox = (_, work) => work();
