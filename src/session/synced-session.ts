import type { Awareness } from "y-protocols/awareness";
import type { Doc } from "yjs";
import { HoldfastError, invalidInput } from "../model/errors.ts";
import { cloneJson, copyJsonObject, type JsonObject, jsonEquals } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { EMPTY_HEAD, EMPTY_REVISION, type Revision, type Snapshot } from "../model/snapshot.ts";
import { checkRevision } from "../store/checked-write.ts";
import { readListener } from "../store/listeners.ts";
import {
  type Beside,
  type Generation,
  type Intent,
  type LiveStore,
  type OpenState,
  type SeenState,
  type View,
  ViewMovedError,
  type WrittenOp,
} from "../store/live-store.ts";
import type { StreamBoard } from "../store/running-streams.ts";
import { LiveMessages } from "./live-messages.ts";
import { LiveStreams } from "./live-streams.ts";
import { MessageDrafts, readList } from "./message-drafts.ts";
import { MessageStream } from "./message-stream.ts";
import { Session } from "./session.ts";
import { copyBeside, readGeneration, readObject, readStreamOptions } from "./session-arguments.ts";
import type { AppendOptions, StreamOptions, SyncedWrite } from "./synced-write.ts";

export interface SyncedSessionOptions {
  readonly id: string;
  readonly actorId: string;
  readonly store: LiveStore;
  readonly streams: StreamBoard;
  /** Of a session that does not exist yet; it is written with the first write. */
  readonly metadata?: JsonObject | undefined;
  readonly closed?: (() => void) | undefined;
}

/**
 * A session that is kept on this device and on the relay. Writes resolve when they are committed here, with or without
 * a network, and show at once; reads always tell the present view: confirmed messages, and the outbox over them.
 */
export class SyncedSession extends Session {
  /** The live end of the conversation, the last 50 messages to begin with. */
  readonly messages: LiveMessages;
  /** The messages being written now, on any device of the actor. */
  readonly streams: LiveStreams;
  readonly #live: LiveStore;
  readonly #open: OpenState;
  readonly #firstMetadata: JsonObject;
  readonly #onClosed: (() => void) | undefined;
  readonly #board: StreamBoard;
  readonly #running = new Set<MessageStream>();
  readonly #ends = new Set<() => void>();
  /** The state as this session handed it out last: what a whole-state write is compared with. */
  #seen: SeenState | undefined;
  #updates: Promise<unknown> = Promise.resolve();
  /** Writes on their way into the local database. */
  readonly #writing = new Set<Promise<unknown>>();
  #closed = false;

  constructor({ id, actorId, store, streams, metadata, closed }: SyncedSessionOptions) {
    super({ id, actorId, store, ...(metadata === undefined ? {} : { metadata }) });
    this.#live = store;
    this.#open = store.open(id);
    this.#firstMetadata = metadata === undefined ? {} : copyJsonObject(metadata, "metadata");
    this.#onClosed = closed;
    this.#board = streams;
    this.messages = new LiveMessages(store, id);
    this.streams = new LiveStreams(streams, id, this.messages);
  }

  /** The Yjs document of the state: what the relay has and what was edited here directly. Ops in the outbox are not in it. */
  get doc(): Doc {
    return this.#open.doc;
  }

  /** Who else is here, and what they say of themselves: shared while connected, never stored. */
  get awareness(): Awareness {
    return this.#open.awareness;
  }

  override async load(): Promise<Snapshot | undefined> {
    return (await this.#view())?.snapshot;
  }

  override reload(): Promise<Snapshot | undefined> {
    return this.load();
  }

  /** The messages of the view, or of one generation. @throws InvalidInputError when there is no such generation. */
  override async history(
    options: {
      readonly generation?: number | undefined;
      readonly fallback?: readonly Message[] | undefined;
    } = {},
  ): Promise<readonly Message[]> {
    const { generation, fallback: given } = readObject(options, "options");
    const fallback = given === undefined ? [] : readList(given, "fallback");
    this.#mustBeOpen();
    if (generation !== undefined) return this.#live.generationMessages(this.id, readGeneration(generation));
    return (await this.#view())?.snapshot.messages ?? Object.freeze(fallback);
  }

  override async state(): Promise<JsonObject> {
    const view = await this.#view();
    return view === undefined ? {} : cloneJson(view.snapshot.state);
  }

  override async metadata(): Promise<Readonly<JsonObject>> {
    const view = await this.#view();
    return view?.snapshot.metadata ?? Object.freeze(cloneJson(this.#firstMetadata));
  }

  /**
   * Adds messages at the end. Resolves with the view once it is committed here; the relay gets it when it can be had.
   * @throws ConflictError, with `onConflict: "reject"` and `until: "confirmed"`, when others were faster.
   * @throws RejectedError when it can never be accepted; it is kept in `client.rejected` then.
   */
  override async append(write: SyncedWrite, options: AppendOptions = {}): Promise<Snapshot> {
    const beside = this.#beside(write);
    const { onConflict = "rebase", until = "local" } = readObject(options, "options");
    if (onConflict !== "rebase" && onConflict !== "reject")
      throw invalidInput("onConflict", 'must be "rebase" or "reject"');
    if (until !== "local" && until !== "confirmed")
      throw invalidInput("until", 'must be "local" or "confirmed"');
    const { messages } = new MessageDrafts(write.messages);
    return this.#write({ kind: "append", messages, conflict: onConflict }, beside, until);
  }

  /** A whole new log; the present one is archived. With `expected`, only if the view has not moved from there. */
  override async replace(
    write: SyncedWrite & { readonly expected?: Revision | undefined },
  ): Promise<Snapshot> {
    const beside = this.#beside(write);
    const drafts = new MessageDrafts(write.messages);
    const expected = write.expected === undefined ? undefined : checkRevision(write.expected);
    const view = await this.#view({ remember: false });
    const messages = drafts.over(view?.snapshot.messages ?? []).from(0);
    return this.#write({ kind: "replace", messages, expected }, beside);
  }

  /** Appends what is new when the view is an unchanged prefix of `messages`, replaces otherwise; nothing new writes nothing. */
  override async checkpoint(
    write: SyncedWrite & { readonly parentOperationId?: string | undefined },
  ): Promise<Snapshot> {
    const beside = this.#beside(write);
    const drafts = new MessageDrafts(write.messages);
    for (;;) {
      const view = await this.#view({ remember: false });
      const stored = view?.snapshot.messages ?? [];
      const { unchanged, from } = drafts.over(stored);
      const intent: Intent =
        unchanged === stored.length
          ? { kind: "checkpoint", messages: from(stored.length), on: view?.head ?? EMPTY_HEAD }
          : { kind: "replace", messages: from(0) };
      try {
        return await this.#write(intent, beside);
      } catch (error) {
        // Something was written in between: judged again on what is there now.
        if (!(error instanceof ViewMovedError)) throw error;
      }
    }
  }

  /**
   * Changes the state: the recipe gets a mutable copy of the present one. Only the leaves it changes are written, and they
   * merge with what others change. Recipes of one session run one after another. Resolves when committed here.
   */
  async updateState(recipe: (draft: JsonObject) => void): Promise<void> {
    if (typeof recipe !== "function") throw invalidInput("recipe", "must be a function");
    this.#mustBeOpen();
    const next = this.#updates.then(async () => {
      const view = await this.#view();
      const seen = view?.seen ?? (await this.#live.seenState(this.id));
      const draft = cloneJson(seen.state);
      const result: unknown = recipe(draft);
      // What it would change later would be lost without a word.
      if (typeof result === "object" && result !== null && "then" in result)
        throw invalidInput("recipe", "must change the draft before it returns, not wait for something");
      await this.#live.changeState(this.id, copyJsonObject(draft, "state"), seen);
    });
    // The caller hears of a failure; the next in line only waits.
    this.#updates = next.catch(() => undefined);
    return next;
  }

  /**
   * Begins a message that is written bit by bit, by the assistant unless told otherwise. Closing the session stops it.
   * @throws InvalidInputError for a role whose messages are not text or are not stored.
   */
  stream(options: StreamOptions = {}): MessageStream {
    const { role, runId, id } = readStreamOptions(options);
    this.#mustBeOpen();
    const append = (message: Message, of: OpenState): Promise<Snapshot> => {
      const { messages } = new MessageDrafts([message]);
      return this.#write({ kind: "append", messages, conflict: "rebase", of }, this.#beside({}));
    };
    const [session, board, ended] = [this.id, this.#board, () => this.#running.delete(stream)];
    const open = (): OpenState => this.#live.open(this.id);
    const stream = new MessageStream({ session, board, id, role, runId, open, append, ended });
    this.#running.add(stream);
    return stream;
  }

  /** The branches of this conversation, oldest first. Offline: those that are held on this device. */
  async generations(): Promise<readonly Generation[]> {
    this.#mustBeOpen();
    return this.#live.generations(this.id);
  }

  /** Makes an archived generation the present log again, as a new generation. Offline when it is held on this device. */
  async restore(generation: number): Promise<Snapshot> {
    this.#mustBeOpen();
    const messages = await this.#live.generationMessages(this.id, readGeneration(generation));
    const kept = await this.#live.holdsGeneration(this.id, generation);
    const lastId = messages.at(-1)?.id ?? null;
    const intent: Intent = kept
      ? { kind: "restore", generation, count: messages.length, lastId }
      : { kind: "replace", messages };
    return this.#write(intent, {});
  }

  /** Told after each change of the session: messages, state, metadata, or what the relay confirmed of them. */
  subscribe(listener: () => void): () => void {
    const told = readListener(listener);
    const ends = [this.#live.watch(this.id, told), this.#live.watchState(this.id, told)];
    const end = (): void => {
      this.#ends.delete(end);
      for (const stop of ends) stop();
    };
    this.#ends.add(end);
    return end;
  }

  /** Ends live updates. What was written stays and is sent all the same. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const stopped = [...this.#running].map((stream) => stream.stop());
    this.#closed = true;
    // A write that was begun commits, and says so: told that it failed, somebody would write it again.
    await Promise.allSettled([this.#updates, ...this.#writing, ...stopped]);
    this.streams.close();
    this.messages.close();
    for (const end of [...this.#ends]) end();
    await this.#open.close();
    this.#onClosed?.();
  }

  async #view({ remember = true, committed = false } = {}): Promise<View | undefined> {
    if (!committed) this.#mustBeOpen();
    const view = await (committed ? this.#live.committedView(this.id) : this.#live.view(this.id));
    if (remember) this.#seen = view?.seen;
    return view;
  }

  async #write(intent: Intent, beside: Beside, until: "local" | "confirmed" = "local"): Promise<Snapshot> {
    this.#mustBeOpen();
    const writing = this.#committed(intent, beside);
    this.#writing.add(writing);
    const { written, view } = await writing.finally(() => this.#writing.delete(writing));
    // A session that is closed while the relay is waited for tells the view of the commit.
    const waits = until === "confirmed" && written !== undefined;
    if (waits) await this.#live.confirmed(this.id, written.opId);
    const snapshot = (waits && !this.#closed ? await this.#view({ committed: true }) : view)?.snapshot;
    const metadata = Object.freeze(cloneJson(this.#firstMetadata));
    return (
      snapshot ??
      Object.freeze({ messages: Object.freeze([]), state: {}, metadata, revision: EMPTY_REVISION })
    );
  }

  async #committed(
    intent: Intent,
    beside: Beside,
  ): Promise<{ readonly written: WrittenOp | undefined; readonly view: View | undefined }> {
    const written = await this.#live.write(this.id, intent, beside);
    return { written, view: await this.#view({ committed: true }) };
  }

  /** Copies what the caller passed, before anything is awaited (D4). */
  #beside(write: {
    readonly state?: JsonObject | undefined;
    readonly metadata?: JsonObject | undefined;
  }): Beside {
    const { state, metadata } = copyBeside(write);
    const first = jsonEquals(this.#firstMetadata, {}) ? undefined : this.#firstMetadata;
    return {
      ...(state === undefined ? {} : { state: { to: state, seen: this.#seen } }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(first === undefined ? {} : { firstMetadata: first }),
    };
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new HoldfastError("The session is closed", { code: "closed" });
  }
}
