import type { JsonObject } from "../model/json.ts";
import type { Head, Revision } from "../model/revision.ts";
import type { Kept, MetadataChange } from "../wire/shapes.ts";
import type { Schema } from "./database.ts";

/** One session as this device holds it: what the relay confirmed, what is known of it elsewhere, and the view. */
export interface SessionRow {
  readonly id: string;
  /** Null until the relay has named one. */
  readonly incarnation: string | null;
  /** Confirmed and held here: `runs` has exactly these messages. */
  readonly head: Head;
  readonly stateCursor: number;
  readonly metadata: JsonObject;
  readonly archived: boolean;
  readonly read: Revision;
  /** The beginning of the last confirmed message's text. */
  readonly preview: string;
  /** All that the relay had was held here once. Until then what is held is a piece, not a view. */
  readonly fetched: boolean;
  /** What the catalog last told. Differs from `head` while a pull is due. */
  readonly remote: { readonly head: Head; readonly stateCursor: number };
  /** The catalog position of the last change that is held here. */
  readonly seq: number;
  /** Held from another storage of the relay's: to be pulled again as soon as its catalog names it (rule P7). */
  readonly recheck?: true | undefined;
  /** ISO time of the last change, ours or the relay's; for display and the catalog's order. */
  readonly updatedAt: string;
  /** Confirmed and the outbox's ops over it, kept with every write of either. */
  readonly view: SessionView;
  /** Which ops wait, for those who have read them before. */
  readonly outbox: OutboxMark;
}

/**
 * Tells which ops of a session are in the outbox: those up to `last`, as many as `view.pending`. As long as `edition` stays
 * the same, ops have only come at the end and gone at the front, so that only what came has to be read.
 */
export interface OutboxMark {
  /** Another one, never used before, whenever the outbox changed in any other way. */
  readonly edition: number;
  /** `n` of the last op that was put at the end. */
  readonly last: number;
}

export interface SessionView {
  readonly head: Head;
  readonly metadata: JsonObject;
  readonly archived: boolean;
  readonly read: Revision;
  /** The beginning of the last message's text. */
  readonly preview: string;
  /** Ops in the outbox. */
  readonly pending: number;
  /** A delete is in the outbox: the session is gone for this device. */
  readonly deleted: boolean;
}

/** Up to 100 consecutive confirmed messages, serialised, the first at position `start`. */
export interface RunRow {
  readonly session: string;
  readonly generation: number;
  readonly start: number;
  readonly messages: readonly JsonObject[];
}

/** A change of state inside an op: the Yjs update to send, and the leaves it came from, to make it anew. */
export interface OpState {
  readonly update: Uint8Array;
  readonly leaves: readonly StateChange[];
}

/** One leaf set, one leaf removed, or one splice of an array leaf. */
export type StateChange =
  | { readonly at: string; readonly set: JsonObject[string] }
  | { readonly at: string; readonly remove: true }
  | {
      readonly at: string;
      readonly index: number;
      readonly removed: number;
      readonly inserted: readonly JsonObject[string][];
    };

interface OpBase {
  readonly session: string;
  /** Position in the outbox, over all sessions; ops of a session go in this order. */
  readonly n: number;
  readonly opId: string;
  readonly incarnation: string | null;
  /** ISO time of the call. */
  readonly at: string;
  readonly state?: OpState | undefined;
  readonly metadata?: readonly MetadataChange[] | undefined;
  /** How many of its messages stand in the confirmed log already, when a page ended inside the op. */
  readonly landed?: number | undefined;
}

/** `expected` null: stands wherever the log ends (rebase). A head: refused when that is not the head any more. */
export interface AppendOp extends OpBase {
  readonly kind: "append";
  readonly messages: readonly JsonObject[];
  readonly expected: Head | null;
}

/**
 * A checkpoint whose stored messages were an unchanged prefix: an append as long as `expected` holds, and else a
 * replace by `keep`, `carried` (what was pending before it) and `messages`.
 */
export interface CheckpointOp extends OpBase {
  readonly kind: "checkpoint";
  readonly expected: Head;
  readonly keep: Kept;
  readonly keepLastId: string | null;
  readonly carried: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
}

/** `expected` null: wins over whatever is there, naming the head it has seen each time it is sent. */
export interface ReplaceOp extends OpBase {
  readonly kind: "replace";
  readonly expected: Head | null;
  readonly keep: Kept;
  /** Id of the last kept message: with no `messages`, the id its log will end in. */
  readonly keepLastId: string | null;
  readonly messages: readonly JsonObject[];
  /** Ids of those messages that stood in the view already: refused, it takes none of them with it. */
  readonly held?: readonly string[] | undefined;
}

export interface EditOp extends OpBase {
  readonly kind: "edit";
  readonly archived?: boolean | undefined;
  readonly read?: Revision | undefined;
}

export interface DeleteOp extends OpBase {
  readonly kind: "delete";
}

/** An op in the outbox. */
export type PendingOp = AppendOp | CheckpointOp | ReplaceOp | EditOp | DeleteOp;

export interface RejectedRow {
  readonly opId: string;
  readonly session: string;
  readonly reason: string;
  readonly message: string;
  readonly at: string;
  /** For a conflict: where the session stood. */
  readonly actual?: Head | undefined;
  readonly op: PendingOp;
  /** What the op was to bring and what stands nowhere else. */
  readonly messages: readonly JsonObject[];
}

/** One Yjs update of a session's document. */
export interface StateRow {
  readonly session: string;
  readonly n: number;
  readonly update: Uint8Array;
  /** 1 until the relay has acknowledged it; 0 for what it has, or sent. A number, so that an index finds what is unsent. */
  readonly unsent: 0 | 1;
}

/** A replaced generation whose messages are still in `runs`. */
export interface GenerationRow {
  readonly session: string;
  readonly generation: number;
  readonly count: number;
  /** These are all its messages. Else others may have been added before it was replaced, out of this device's sight. */
  readonly whole: boolean;
  readonly replacedAt: string;
}

/** One value a key: schema version, database identity, storage identity, catalog cursor, next op number, limits. */
export interface MetaRow {
  readonly key: string;
  readonly value: unknown;
}

export interface SyncRows {
  sessions: SessionRow;
  runs: RunRow;
  outbox: PendingOp;
  rejected: RejectedRow;
  state: StateRow;
  generations: GenerationRow;
  meta: MetaRow;
}

export const SYNC_SCHEMA: Schema<SyncRows> = {
  sessions: { key: ["id"], indexes: { recent: ["updatedAt", "id"] } },
  runs: { key: ["session", "generation", "start"] },
  outbox: { key: ["session", "n"], indexes: { op: ["opId"] } },
  rejected: { key: ["session", "opId"] },
  state: { key: ["session", "n"], indexes: { unsent: ["unsent", "session", "n"] } },
  generations: { key: ["session", "generation"] },
  meta: { key: ["key"] },
};

/** The version of {@link SYNC_SCHEMA} and of the rows, in IndexedDB and in `meta`. Each needs its step in `migrations.ts`. */
export const SYNC_SCHEMA_VERSION = 2;
