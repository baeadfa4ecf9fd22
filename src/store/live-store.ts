import type { Awareness } from "y-protocols/awareness";
import type { Doc } from "yjs";
import type { JsonObject } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import type { Head, Revision } from "../model/revision.ts";
import type { Snapshot } from "../model/snapshot.ts";
import type { SessionStore } from "./contract.ts";

/**
 * Where a message stands: `pending` committed on this device and not acknowledged, `confirmed` durable on the relay,
 * `rejected` set aside because the relay can never accept it.
 */
export type Delivery = "pending" | "confirmed" | "rejected";

/** One message as a live list shows it. */
export interface MessageEntry {
  readonly message: Message;
  readonly delivery: Delivery;
}

/** The end of a session's view. */
export interface Window {
  readonly entries: readonly MessageEntry[];
  readonly hasEarlier: boolean;
  /** Messages in the whole view. */
  readonly total: number;
  /** Some of the confirmed ones that were read are missing or cannot be read. */
  readonly damaged: boolean;
}

/** A state as it was handed out: what a later whole-state write is compared with, and rests on. */
export interface SeenState {
  readonly state: JsonObject;
  /** The Yjs document it was read from, as one update. */
  readonly basis: Uint8Array;
  /** Which life of the session it was: after a delete, what was seen before is no basis. */
  readonly life: string;
  /** Whether the basis has changes of ops that are still in the outbox. */
  readonly restsOnPending: boolean;
}

/** The whole view of a session. */
export interface View {
  readonly snapshot: Snapshot;
  readonly head: Head;
  readonly seen: SeenState;
}

/** A write as `Session` means it; the store makes an op of it. */
export type Intent =
  | {
      readonly kind: "append";
      readonly messages: readonly Message[];
      readonly conflict: "rebase" | "reject";
      /** Refused at once when the view stands elsewhere. */
      readonly on?: Revision | undefined;
      /** Refused when that life of the session is over. */
      readonly of?: OpenState | undefined;
    }
  | {
      readonly kind: "checkpoint";
      /** The messages behind those of the view. */
      readonly messages: readonly Message[];
      /** Made anew when the view stands elsewhere. */
      readonly on: Head;
    }
  | {
      readonly kind: "replace";
      /** The whole new log. */
      readonly messages: readonly Message[];
      readonly expected?: Revision | undefined;
    }
  | {
      readonly kind: "restore";
      readonly generation: number;
      readonly count: number;
      readonly lastId: string | null;
    };

/** State and metadata that go with a write. Absent: as they are. */
export interface Beside {
  readonly state?: { readonly to: JsonObject; readonly seen?: SeenState | undefined } | undefined;
  readonly metadata?: JsonObject | undefined;
  /** For a session that does not exist yet. */
  readonly firstMetadata?: JsonObject | undefined;
}

export interface WrittenOp {
  readonly opId: string;
}

/** The live document of one open session in this tab. */
export interface OpenState {
  readonly doc: Doc;
  readonly awareness: Awareness;
  /** The life of the session that it is of; null while the relay has named none. */
  readonly incarnation: string | null;
  /** Whether that life is over, or the session was deleted here since this was opened. */
  ended(): Promise<boolean>;
  close(): Promise<void>;
}

/** The view of a session has moved; thrown where a write must be made anew from the present one. */
export class ViewMovedError extends Error {
  override readonly name = "ViewMovedError";
}

/** A store whose sessions change under one's eyes: what `SyncedSession` needs beyond {@link SessionStore}. */
export interface LiveStore extends SessionStore {
  /** The whole view; undefined when no such session exists. Waits for what the relay is known to have, while it can be had. */
  view(id: string): Promise<View | undefined>;
  /** The view after a write that was committed: read again for as long as the storage fails. */
  committedView(id: string): Promise<View | undefined>;
  /** The last `count` messages of the view, then the rejected ones; reads nothing else. */
  window(id: string, count: number): Promise<Window>;
  /** Commits the op here; undefined when it would change nothing. @throws ConflictError, InvalidInputError, StorageError, ViewMovedError; nothing is written then. */
  write(id: string, intent: Intent, beside: Beside): Promise<WrittenOp | undefined>;
  /** Resolves when the relay has acknowledged the op. @throws RejectedError, ConflictError when it was set aside. */
  confirmed(id: string, opId: string): Promise<void>;
  /** Changes the state at once, outside any append. */
  changeState(id: string, to: JsonObject, seen: SeenState): Promise<void>;
  open(id: string): OpenState;
  /** The state as it is seen now, `{}` for a session that does not exist. */
  seenState(id: string): Promise<SeenState>;
  /** Told after each change of the session's document in this tab. */
  watchState(id: string, listener: () => void): () => void;
  generations(id: string): Promise<readonly Generation[]>;
  /** Whether the messages of that generation are held on this device. */
  holdsGeneration(id: string, generation: number): Promise<boolean>;
  generationMessages(id: string, generation: number): Promise<readonly Message[]>;
  watch(id: string, listener: () => void): () => void;
}

/** One branch of a conversation. */
export interface Generation {
  readonly generation: number;
  readonly count: number;
  /** ISO time of the replace that ended it. */
  readonly replacedAt?: string | undefined;
  /** The op that made it. */
  readonly opId?: string | undefined;
  readonly current: boolean;
}
