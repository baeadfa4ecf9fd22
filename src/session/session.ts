import { invalidInput } from "../model/errors.ts";
import { checkId } from "../model/ids.ts";
import { cloneJson, copyJsonObject, freezeJson, type JsonObject, jsonEquals, nameOf } from "../model/json.ts";
import type { Message, MessageInput } from "../model/message.ts";
import { EMPTY_REVISION, type Revision, type Snapshot } from "../model/snapshot.ts";
import { checkRevision } from "../store/checked-write.ts";
import type { SessionStore } from "../store/contract.ts";
import { MessageDrafts, readList } from "./message-drafts.ts";
import { RememberedSnapshot } from "./remembered-snapshot.ts";
import { type Beside, copyBeside, readObject, readOperation } from "./session-arguments.ts";

export interface SessionOptions {
  /** Which conversation; 1 to 128 characters, not blank. */
  readonly id: string;
  /** Where it is kept. */
  readonly store: SessionStore;
  /** Whose it is. A store binds a session to the first actor that names it. */
  readonly actorId?: string | undefined;
  /** Metadata of a session that does not exist yet; what is stored wins. */
  readonly metadata?: JsonObject | undefined;
  /** Which operation the session's calls of the store belong to. */
  readonly operationId?: string | undefined;
}

/** Messages, and the state and metadata that stand with them; those that are absent stay as they are stored. */
export interface SessionWrite {
  readonly messages: Iterable<Message | MessageInput>;
  readonly state?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;
}

/**
 * One conversation over any store: it remembers what the store last told, sends only what is new, and filters what is
 * private before it leaves (S9). Its writes go one after another in the order of the calls. Errors of the store reach
 * the caller unchanged; bad input is an InvalidInputError and has changed nothing.
 */
export class Session {
  readonly id: string;
  readonly actorId: string | undefined;
  readonly store: SessionStore;
  readonly operationId: string | undefined;
  readonly #scope: { readonly actorId?: string };
  readonly #firstMetadata: Readonly<JsonObject>;
  readonly #known: RememberedSnapshot;
  #writes: Promise<unknown> = Promise.resolve();

  /** Touches no store. @throws InvalidInputError for an id, actor or metadata that cannot be one. */
  constructor(options: SessionOptions) {
    const { id, store, actorId, metadata, operationId } = readObject(options, "options");
    this.id = checkId(id, "id");
    this.actorId = actorId === undefined ? undefined : checkId(actorId, "actorId");
    if (typeof store !== "object" || store === null) {
      throw invalidInput("store", `must be a session store, not ${nameOf(store)}`);
    }
    this.store = store;
    this.operationId = readOperation(operationId, "operationId");
    this.#scope = Object.freeze(this.actorId === undefined ? {} : { actorId: this.actorId });
    this.#known = new RememberedSnapshot((operation) =>
      this.#within(operation, () => this.store.load(this.id, this.#scope)),
    );
    this.#firstMetadata = freezeJson(metadata === undefined ? {} : copyJsonObject(metadata, "metadata"));
  }

  /** The session as it is stored; undefined when there is none. Asks the store once and remembers the answer. */
  async load(): Promise<Snapshot | undefined> {
    return this.#known.current(this.operationId);
  }

  /** Asks the store again. */
  async reload(): Promise<Snapshot | undefined> {
    return this.#known.ask(this.operationId);
  }

  /** The stored messages, even when there are none; `fallback` serves a session that does not exist. */
  async history(
    options: { readonly fallback?: readonly Message[] | undefined } = {},
  ): Promise<readonly Message[]> {
    const { fallback: given } = readObject(options, "options");
    const fallback = given === undefined ? [] : readList(given, "fallback");
    return (await this.load())?.messages ?? Object.freeze(fallback);
  }

  /** A fresh copy of the stored state, for the caller to change; `{}` for a new session. */
  async state(): Promise<JsonObject> {
    const snapshot = await this.load();
    return snapshot === undefined ? {} : cloneJson(snapshot.state);
  }

  /** The stored metadata, frozen; the constructor's for a new session. */
  async metadata(): Promise<Readonly<JsonObject>> {
    return (await this.load())?.metadata ?? this.#firstMetadata;
  }

  /**
   * Adds messages behind those this session knows of.
   * @throws ConflictError when the store holds others by now; `reload` tells which.
   */
  async append(write: SessionWrite): Promise<Snapshot> {
    const beside = copyBeside(write);
    const { messages } = new MessageDrafts(write.messages);
    return this.#inTurn(async () => {
      const base = await this.#known.current(this.operationId);
      return this.#append(base, messages, beside, this.operationId);
    });
  }

  /**
   * Writes a whole new log; the one before is archived.
   * @throws ConflictError when `expected` is given and the store's revision is another.
   */
  async replace(write: SessionWrite & { readonly expected?: Revision | undefined }): Promise<Snapshot> {
    const beside = copyBeside(write);
    const drafts = new MessageDrafts(write.messages, this.#known.messages);
    const expected = write.expected === undefined ? undefined : checkRevision(write.expected);
    return this.#inTurn(async () => {
      const base = await this.#known.current(this.operationId);
      return this.#replace(base, drafts.over(base?.messages ?? []).from(0), beside, {
        expected,
        operationId: this.operationId,
      });
    });
  }

  /**
   * Brings the store to what `messages`, state and metadata say with the least writing: an append when the stored
   * messages are an unchanged prefix, a replace otherwise, and nothing at all where nothing is new.
   * @throws ConflictError when the store holds something else by now than what this session knows of.
   */
  async checkpoint(
    write: SessionWrite & {
      /** The operation this belongs to, instead of the session's own. */
      readonly parentOperationId?: string | undefined;
    },
  ): Promise<Snapshot> {
    const beside = copyBeside(write);
    const drafts = new MessageDrafts(write.messages, this.#known.messages);
    const operationId = readOperation(write.parentOperationId, "parentOperationId") ?? this.operationId;
    return this.#inTurn(async () => {
      const base = await this.#known.current(operationId);
      const stored = base?.messages ?? [];
      const { unchanged, from } = drafts.over(stored);
      if (unchanged < stored.length) {
        const expected = base?.revision ?? EMPTY_REVISION;
        return this.#replace(base, from(0), beside, { expected, operationId });
      }
      const added = from(stored.length);
      if (added.length === 0 && this.#stands(base, beside)) return base ?? this.#blank();
      return this.#append(base, added, beside, operationId);
    });
  }

  /** A checkpoint of what an agent run returned; the stored metadata stays. */
  async checkpointResult(result: {
    readonly messages: Iterable<Message | MessageInput>;
    readonly state: JsonObject;
  }): Promise<Snapshot> {
    const { messages, state } = readObject(result, "result");
    return this.checkpoint({ messages, state: copyJsonObject(state, "state") });
  }

  /** Runs one piece of work at a time for this actor and session, in the order of the calls, across the store's users. */
  async synchronize<T>(work: () => Promise<T>): Promise<T> {
    if (typeof work !== "function") throw invalidInput("work", "must be a function");
    return this.store.synchronize(this.id, this.#scope, work);
  }

  /** Hands a view of the conversation, unfiltered, to a store that shows it; undefined where the store shows none. */
  async projectConversation(view: {
    readonly messages: Iterable<Message | MessageInput>;
    readonly metadata?: JsonObject | undefined;
  }): Promise<unknown> {
    const { messages: given, metadata: own } = readObject(view, "view");
    const metadata = own === undefined ? undefined : copyJsonObject(own, "metadata");
    const messages = readList(given, "messages");
    if (this.store.projectConversation === undefined) return undefined;
    const shown = { ...this.#scope, messages, metadata: metadata ?? cloneJson(await this.metadata()) };
    return this.#within(this.operationId, () => this.store.projectConversation?.(this.id, shown));
  }

  #append(
    base: Snapshot | undefined,
    messages: readonly Message[],
    beside: Beside,
    operationId: string | undefined,
  ): Promise<Snapshot> {
    const { generation, count } = base?.revision ?? EMPTY_REVISION;
    const write = {
      ...this.#scope,
      ...this.#whole(base, beside),
      messages,
      expectedCount: count,
      expectedGeneration: generation,
    };
    return this.#known.written(this.#within(operationId, () => this.store.append(this.id, write)));
  }

  #replace(
    base: Snapshot | undefined,
    messages: readonly Message[],
    beside: Beside,
    {
      expected,
      operationId,
    }: { readonly expected: Revision | undefined; readonly operationId: string | undefined },
  ): Promise<Snapshot> {
    const write = {
      ...this.#scope,
      ...this.#whole(base, beside),
      messages,
      ...(expected === undefined ? {} : { expected }),
    };
    return this.#known.written(this.#within(operationId, () => this.store.replace(this.id, write)));
  }

  /** Runs a call of the store in the name of an operation (S15). */
  async #within<T>(
    operationId: string | undefined,
    work: () => Promise<T> | undefined,
  ): Promise<T | undefined> {
    return this.store.withOperationContext(operationId, async () => work());
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#writes.then(work, work);
    this.#writes = turn;
    // The caller has the same promise and hears of a failure; this one only keeps the order.
    turn.catch(() => undefined);
    return turn;
  }

  #whole(
    base: Snapshot | undefined,
    { state, metadata }: Beside,
  ): { state: JsonObject; metadata: JsonObject } {
    return {
      state: state ?? cloneJson(base?.state ?? {}),
      metadata: metadata ?? cloneJson(base?.metadata ?? this.#firstMetadata),
    };
  }

  #stands(base: Snapshot | undefined, { state, metadata }: Beside): boolean {
    const sameState = state === undefined || jsonEquals(state, base?.state ?? {});
    return (
      sameState && (metadata === undefined || jsonEquals(metadata, base?.metadata ?? this.#firstMetadata))
    );
  }

  #blank(): Snapshot {
    return Object.freeze({
      messages: Object.freeze([]),
      state: Object.freeze({}),
      metadata: this.#firstMetadata,
      revision: EMPTY_REVISION,
    });
  }
}
