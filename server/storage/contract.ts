import type { Reporter } from "../../src/env/reporter.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Head, Revision } from "../../src/model/revision.ts";
import type { CatalogEntry } from "../../src/wire/catalog.ts";
import type { FaultCode, LimitNamed } from "../../src/wire/fault.ts";
import type { PositionMark } from "../../src/wire/hello.ts";
import type { GenerationEntry } from "../../src/wire/log.ts";
import type { Kept, MetadataChange } from "../../src/wire/shapes.ts";

/**
 * Where a relay keeps sessions. One contract for all storages; `holdfast/testing` has the suite that checks it.
 *
 * What every storage must hold:
 * - An answer resolves after the commit that survives what the storage's durability promises; refusals, too, cite only
 *   what is durable. A write that cannot be committed is answered `try-again` and has left nothing.
 * - Writes handed in one after the other are applied and answered in that order; each is all or nothing.
 * - Everything is looked up under its actor. What belongs to another actor is answered as what does not exist.
 * - Reads see everything that was answered before they were asked.
 */
export interface RelayStorage {
  /** Opens or creates. Called again after `close`, it finds what was there. @throws StorageError */
  open(host: StorageHost): Promise<{ readonly storeId: string }>;
  /** Waits for what is under way. Calls after it reject with StorageError `closed`. */
  close(): Promise<void>;
  /** Never rejects for what one op asks; a failing storage is the answer `try-again`. */
  apply(write: Write): Promise<Answer>;
  /** The actor's catalog position: the number of the last change of any of its sessions, 0 before the first. */
  position(actor: string): Promise<number>;
  /**
   * The latest marks of the actor's positions, at most 16, in their order; the last is the one that changes get now
   * (rule P67). Each opening makes its own, and keeps it with the first change that it makes for the actor. Left out by
   * a storage that no older copy can take the place of.
   */
  marks?(actor: string): Promise<readonly PositionMark[]>;
  /** Entries changed after the cursor, in the order of their positions. */
  catalog(actor: string, question: CatalogQuestion): Promise<CatalogAnswer>;
  pull(place: SessionPlace, question: PullQuestion): Promise<PullAnswer | Absent>;
  readGeneration(place: LifePlace, question: GenerationQuestion): Promise<GenerationAnswer | Absent>;
  /** Newest first. */
  listGenerations(place: LifePlace, maxEntries: number): Promise<readonly GenerationEntry[] | Absent>;
  /** All state updates of a session, in order. An incarnation of null asks for the present one. */
  loadState(place: SessionPlace): Promise<StateLoaded | Absent>;
  /** Puts `merged` in the place of all updates up to the cursor. The cursor stays. Does nothing when the life is over. */
  compactState(
    place: LifePlace,
    compacted: { readonly upTo: number; readonly merged: Uint8Array },
  ): Promise<void>;
  /**
   * Resolves when a write commits now, for whoever asks whether the relay is ready. Left out by a storage for which a
   * read tells as much. @throws StorageError
   */
  probe?(): Promise<void>;
  /** Totals over all actors, for the operator. */
  inspect(): Promise<StorageTotals>;
}

/** What a storage takes from the relay that opens it. */
export interface StorageHost {
  /** Milliseconds since 1970, for the times that entries show. */
  now(): number;
  /** A fresh id: an incarnation, the store's own. */
  newId(): string;
  readonly limits: StorageLimits;
  readonly reporter: Reporter;
  /** What an acknowledgement survives, where the storage was not told otherwise. */
  readonly durability: "power" | "process";
}

export interface StorageLimits {
  readonly maxMetadataBytes: number;
  readonly maxStateBytes: number;
  readonly maxSessionsPerActor: number;
  /** The longest tail a conflict carries, in messages and in bytes (rule P22). */
  readonly maxTailMessages: number;
  readonly maxTailBytes: number;
}

/** A session as an actor names it. */
export interface SessionPlace {
  readonly actor: string;
  readonly session: string;
  /** Null where none is known. */
  readonly incarnation: string | null;
}
/** One life of a session. */
export interface LifePlace extends SessionPlace {
  readonly incarnation: string;
}

/** A message to store: its id, and the message as JSON text, never looked into again. */
export interface MessageBody {
  readonly id: string;
  readonly body: string;
}
/** A stored message, with the op that brought it. */
export interface StoredMessage extends MessageBody {
  readonly op: string;
}

interface OpFields extends SessionPlace {
  readonly opId: string;
  /** Tells the op's content from any other's: equal for the same op sent again (rule P14). */
  readonly digest: string;
}
interface ChangeFields {
  readonly messages: readonly MessageBody[];
  readonly metadata?: readonly MetadataChange[] | undefined;
  /** A Yjs update, checked. Opaque here. */
  readonly state?: Uint8Array | undefined;
}
export interface AppendWrite extends OpFields, ChangeFields {
  readonly kind: "append";
  readonly base: Head;
}
export interface ReplaceWrite extends OpFields, ChangeFields {
  readonly kind: "replace";
  readonly base: Head;
  readonly keep: Kept;
}
export interface EditWrite extends OpFields {
  readonly kind: "edit";
  readonly metadata?: readonly MetadataChange[] | undefined;
  readonly archived?: boolean | undefined;
  readonly read?: Revision | undefined;
}
export interface DeleteWrite extends OpFields {
  readonly kind: "delete";
}
/** State that came by a channel. It has no op id: applied twice, it changes nothing. */
export interface StateWrite extends LifePlace {
  readonly kind: "state";
  readonly update: Uint8Array;
}
export type OpWrite = AppendWrite | ReplaceWrite | EditWrite | DeleteWrite;
export type Write = OpWrite | StateWrite;

/** The write is durable. */
export interface Accepted {
  readonly ok: true;
  readonly outcome: "applied" | "known" | "present";
  readonly incarnation: string;
  readonly head: Head;
  readonly added: number;
  /** 0 when nothing changed now. */
  readonly seq: number;
  readonly stateCursor: number;
  /** The session's entry after the change; absent when nothing changed now. */
  readonly entry?: CatalogEntry | undefined;
  /** The session was deleted by this write. */
  readonly deleted?: boolean | undefined;
  /** How many state updates the storage holds for the session, and their bytes: what compaction is decided by. */
  readonly held?: { readonly updates: number; readonly bytes: number } | undefined;
}
/** The write has left nothing. */
export interface Refused {
  readonly ok: false;
  readonly code: FaultCode;
  readonly message: string;
  readonly limit?: LimitNamed | undefined;
  readonly actual?: { readonly incarnation: string; readonly head: Head } | undefined;
  readonly tail?: readonly StoredMessage[] | undefined;
  /** For state that does not fit: what is held already. More than one update may take less room once compacted. */
  readonly held?: { readonly updates: number; readonly bytes: number } | undefined;
}
export type Answer = Accepted | Refused;

/** There is no such session, or no longer, or no such generation (rule P34). */
export interface Absent {
  readonly absent: "unknown-session" | "deleted" | "malformed";
}

export interface PageBounds {
  readonly maxMessages: number;
  /** UTF-8 bytes of bodies; a page holds at least one message. */
  readonly maxBytes: number;
}
export interface CatalogQuestion {
  readonly cursor: number;
  readonly maxEntries: number;
  readonly maxBytes: number;
}
export interface CatalogAnswer {
  readonly entries: readonly CatalogEntry[];
  readonly cursor: number;
  readonly more: boolean;
}
export interface PullQuestion extends PageBounds {
  readonly have: Head | null;
  readonly stateCursor: number;
}
export interface PullAnswer {
  readonly incarnation: string;
  readonly start: number;
  readonly messages: readonly StoredMessage[];
  readonly head: Head;
  readonly more: boolean;
  /** State updates after the asked cursor; none while messages remain. */
  readonly state: readonly Uint8Array[];
  readonly stateCursor: number;
  readonly behind: boolean;
}
export interface GenerationQuestion extends PageBounds {
  readonly generation: number;
  readonly from: number;
}
export interface GenerationAnswer {
  readonly messages: readonly StoredMessage[];
  readonly more: boolean;
}
export interface StateLoaded {
  readonly incarnation: string;
  readonly updates: readonly Uint8Array[];
  /** The state cursor that these updates lead to. */
  readonly cursor: number;
}
export interface StorageTotals {
  readonly sessions: number;
  readonly messages: number;
  readonly bytes: number;
}

/** A session as a storage's head cache holds it: never any history. */
export interface SessionRow {
  readonly incarnation: string;
  readonly deleted: boolean;
  readonly head: Head;
  readonly stateCursor: number;
  readonly stateUpdates: number;
  readonly stateBytes: number;
  readonly metadata: JsonObject;
  readonly archived: boolean;
  readonly read: Revision;
  readonly updatedAtMs: number;
  readonly seq: number;
}

/** What is remembered of an applied op for ever (rule P14). */
export interface KnownOp {
  readonly digest: string;
  readonly incarnation: string;
  readonly head: Head;
  readonly added: number;
  readonly stateCursor: number;
}
