/** What an append must name to be accepted: which log, and how long it is. */
export interface Revision {
  /** How often the log was replaced; starts at 0. */
  readonly generation: number;
  /** Messages in the log of this generation. */
  readonly count: number;
}

/**
 * A revision and the id of the last message, `null` for an empty log. Two logs of one session with equal heads
 * are equal, where two with equal revisions need not be (H3).
 */
export interface Head extends Revision {
  readonly lastId: string | null;
}

/** The revision of a session that nobody has written yet. */
export const EMPTY_REVISION: Revision = Object.freeze({ generation: 0, count: 0 });

/** The head of a session that nobody has written yet. */
export const EMPTY_HEAD: Head = Object.freeze({ generation: 0, count: 0, lastId: null });

/** Whether two revisions name the same log at the same length. */
export function revisionEquals(a: Revision, b: Revision): boolean {
  return a.generation === b.generation && a.count === b.count;
}

/** Whether two heads name the same log at the same length, ending in the same message. */
export function headEquals(a: Head, b: Head): boolean {
  return revisionEquals(a, b) && a.lastId === b.lastId;
}
