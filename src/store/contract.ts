import type { JsonObject } from "../model/json.ts";
import type { Message, MessageInput } from "../model/message.ts";
import type { Revision, Snapshot } from "../model/snapshot.ts";

/** Whose session is meant. A session written with an actor is that actor's alone, one without is nobody's else (T3). */
export interface Scope {
  readonly actorId?: string | undefined;
}

/** Messages to add at the end of the log, with the state and metadata that stand from then on. */
export interface AppendWrite extends Scope {
  readonly messages: readonly (Message | MessageInput)[];
  readonly state: JsonObject;
  readonly metadata: JsonObject;
  /** How many messages the log must hold for the append to be accepted (T1). */
  readonly expectedCount: number;
  /** Which generation they must be of (T2). Any, when absent. */
  readonly expectedGeneration?: number | undefined;
}

/** A whole new log, as the next generation. */
export interface ReplaceWrite extends Scope {
  readonly messages: readonly (Message | MessageInput)[];
  readonly state: JsonObject;
  readonly metadata: JsonObject;
  /** The revision it was computed from; refused when that is no longer the store's. It wins over any, when absent. */
  readonly expected?: Revision | undefined;
}

/** What is to be shown of a conversation, filtered or not as its maker likes. */
export interface ConversationView extends Scope {
  readonly messages: readonly (Message | MessageInput)[];
  readonly metadata: JsonObject;
}

/**
 * Where sessions are kept. Everything passed in is copied before the call returns its promise; everything handed out is
 * the caller's to keep: a fresh mutable `state`, the rest frozen (D4). A write that fails has changed nothing (T5).
 *
 * Errors: InvalidInputError for data that cannot be stored, ConflictError for a revision that is not the store's (T1,
 * T2), ActorMismatchError for another actor's session (T3), StorageError where the storage itself fails. The suite of
 * `holdfast/testing` checks all of it on any store.
 */
export interface SessionStore {
  /** The session as it stands; undefined when there is none. Loading with an actor binds a new id to that actor (T3). */
  load(id: string, scope: Scope): Promise<Snapshot | undefined>;

  /** Adds messages, and sets state and metadata, in one atomic step. Creates the session when both expectations are 0. */
  append(id: string, write: AppendWrite): Promise<Snapshot>;

  /** Begins a new generation with these messages. The one before is archived, never destroyed (H5). */
  replace(id: string, write: ReplaceWrite): Promise<Snapshot>;

  /** Hands on what a conversation looks like to whoever shows it. Stores nothing of the session itself. */
  projectConversation?(id: string, view: ConversationView): Promise<unknown>;

  /**
   * Runs one piece of work at a time for the same actor and session, in the order of the calls; other sessions are not
   * held up, and a failing work lets the next one run (S13). Work that waits for another `synchronize` of the same
   * session waits for ever.
   */
  synchronize<T>(id: string, scope: Scope, work: () => Promise<T>): Promise<T>;

  /**
   * Lets the store know which operation the calls belong to that `work` makes before its first `await` (S15): a store
   * that keeps a trail notes it with them. Calls made later are not attributed, for nothing in a browser tells whose
   * they are.
   */
  withOperationContext<T>(operationId: string | undefined, work: () => Promise<T>): Promise<T>;
}
