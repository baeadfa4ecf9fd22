import type { JsonObject } from "../model/json.ts";
import type { Message, MessageInput, Role } from "../model/message.ts";

/** How an append is meant. */
export interface AppendOptions {
  /** When others appended in between: `rebase` (default) stands behind theirs, `reject` is set aside and told. */
  readonly onConflict?: "rebase" | "reject" | undefined;
  /** Resolve when committed on this device (default), or when the relay has acknowledged. */
  readonly until?: "local" | "confirmed" | undefined;
}

/** Messages, and what changes with them. State and metadata are whole: what they lack is removed. */
export interface SyncedWrite {
  readonly messages: Iterable<Message | MessageInput>;
  readonly state?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** Who writes a stream: the assistant unless told otherwise, in the run that is named. */
export interface StreamOptions {
  /** `assistant`, `user` or `developer`. */
  readonly role?: Role | undefined;
  readonly runId?: string | undefined;
  /**
   * Of the stream and its message, where it follows from something: a writer that begins again writes on under the same
   * id. One of its own for each stream otherwise.
   */
  readonly id?: string | undefined;
}
