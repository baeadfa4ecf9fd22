import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Revision } from "./revision.ts";

export { EMPTY_HEAD, EMPTY_REVISION, type Head, type Revision } from "./revision.ts";

/** A session as a store returns it: log, state and metadata of one moment. */
export interface Snapshot {
  readonly messages: readonly Message[];
  readonly state: JsonObject;
  readonly metadata: JsonObject;
  readonly revision: Revision;
  /** Messages that are stored but could not be read: their place in the log, and why (T7). */
  readonly damaged?: readonly Damage[] | undefined;
}

/** One message of a log that could not be read. Its bytes are kept, and its place counts. */
export interface Damage {
  readonly index: number;
  readonly reason: string;
}
