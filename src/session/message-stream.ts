import { HoldfastError, invalidInput, RejectedError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { createMessage, type Message, type MessageInput, type Role } from "../model/message.ts";
import type { Snapshot } from "../model/snapshot.ts";
import type { OpenState } from "../store/live-store.ts";
import type { StreamBoard } from "../store/running-streams.ts";

/** The most UTF-16 code units that a stream may write; a message of more could hardly be stored. */
export const MAX_STREAM_LENGTH = 1_048_576;

export interface MessageStreamParts {
  readonly session: string;
  readonly board: StreamBoard;
  readonly id: string | undefined;
  readonly role: Role;
  readonly runId: string | undefined;
  /** The session as it is now. The stream closes it at its end. */
  readonly open: () => OpenState;
  /** Refused with RejectedError `deleted` when that life of the session is over. */
  readonly append: (message: Message, of: OpenState) => Promise<Snapshot>;
  /** Nothing of it is left to be done. */
  readonly ended: () => void;
}

/**
 * A message while it is being written. What is written shows at once in every tab, and soon on every device, above the
 * log; it is stored when it is finished or stopped, as one message with the stream's id, which takes the place of what
 * was shown. When its session is deleted meanwhile, it is over: `write` and `finish` say so.
 */
export class MessageStream {
  /** Also the id of the message that it becomes. */
  readonly id: string;
  readonly role: Role;
  /** The run that writes, where it was named. */
  readonly runId: string | undefined;
  readonly #parts: MessageStreamParts;
  readonly #open: OpenState;
  #text = "";
  #ending: Promise<Snapshot | undefined> | undefined;
  #over: RejectedError | undefined;

  constructor(parts: MessageStreamParts) {
    const { role, runId, board, session } = parts;
    this.#parts = parts;
    this.role = role;
    this.runId = runId;
    const open = parts.open();
    this.#open = open;
    const incarnation = (): string | null => open.incarnation;
    const deleted = (): void => {
      this.#over ??= new RejectedError("The session was deleted", { reason: "deleted" });
    };
    try {
      this.id = board.begin(session, { id: parts.id, role, runId, incarnation, deleted }).id;
    } catch (error) {
      void open.close();
      throw error;
    }
  }

  /** What was written so far. */
  get text(): string {
    return this.#text;
  }

  /**
   * Adds to the text.
   * @throws InvalidInputError for what is not text, or would make it longer than 1,048,576 UTF-16 code units.
   * @throws RejectedError `deleted` when the session was deleted meanwhile.
   * @throws HoldfastError `closed` after `finish` or `stop`: a stopped run learns of it here.
   */
  write(delta: string): void {
    if (typeof delta !== "string") throw invalidInput("delta", "must be text");
    if (this.#over !== undefined) throw this.#over;
    if (this.#ending !== undefined) throw new HoldfastError("The stream has ended", { code: "closed" });
    if (this.#text.length + delta.length > MAX_STREAM_LENGTH)
      throw invalidInput("delta", `must not make the text longer than ${MAX_STREAM_LENGTH}`);
    if (delta === "") return;
    this.#text += delta;
    this.#parts.board.grow(this.#parts.session, this.id, this.#text);
  }

  /**
   * Appends the message: what was written, or the one given, with the stream's id. Resolves when it is committed on this
   * device; with nothing written and none given it appends nothing. When it rejects, nothing is stored and it can be
   * tried again. After `stop` it changes nothing.
   * @throws RejectedError `deleted` when the session was deleted meanwhile; that is final.
   */
  finish(message?: MessageInput): Promise<Snapshot | undefined> {
    if (this.#ending !== undefined) return this.#ending;
    if (message === undefined) return this.#end(this.#written({}));
    const { id, role } = message;
    if (id !== undefined && id !== this.id) throw invalidInput("message.id", "must be the stream's");
    if (role === "system") throw invalidInput("message.role", "must be one that is stored");
    return this.#end(createMessage({ ...message, id: this.id }));
  }

  /**
   * Ends it early: what was written is kept as the message, with `stopped: true` in its metadata, and `runId` where the
   * run was named. It ends this stream and no other; after `finish` it changes nothing.
   */
  stop(): Promise<Snapshot | undefined> {
    const named = this.runId === undefined ? {} : { runId: this.runId };
    return this.#ending ?? this.#end(this.#written({ stopped: true, ...named }));
  }

  /**
   * Ends it without a message of its own: for a run that gives up, and for a writer that appended the message itself,
   * under the stream's id and beside others. After `finish` or `stop` it changes nothing.
   */
  discard(): void {
    void (this.#ending ?? this.#end(undefined));
  }

  #written(metadata: JsonObject): Message | undefined {
    // A character may have been cut in two between deltas.
    const content = this.#text.replace(/[\uD800-\uDBFF]$/, "");
    return content === "" ? undefined : createMessage({ id: this.id, role: this.role, content, metadata });
  }

  #end(message: Message | undefined): Promise<Snapshot | undefined> {
    const { append, board, session, ended } = this.#parts;
    const open = this.#open;
    const over = (kept: boolean): void => {
      board.end(session, this.id, { kept });
      void open.close();
      ended();
    };
    const ending = (async () => {
      if (this.#over !== undefined) throw this.#over;
      const snapshot = message === undefined ? undefined : await append(message, open);
      over(message !== undefined);
      return snapshot;
    })();
    this.#ending = ending;
    ending.catch((error: unknown) => {
      if (!(error instanceof RejectedError && error.reason === "deleted")) this.#ending = undefined;
      else over(false);
    });
    return ending;
  }
}
