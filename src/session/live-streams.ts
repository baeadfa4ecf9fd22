import { Listeners } from "../store/listeners.ts";
import type { RunningStream, StreamBoard } from "../store/running-streams.ts";
import type { LiveMessages } from "./live-messages.ts";

const NONE: readonly RunningStream[] = Object.freeze([]);

/**
 * The messages being written in a session now, on any device. One leaves the list in the same turn in which its message
 * enters `messages.entries`: who reads both shows it once.
 */
export class LiveStreams {
  readonly #board: StreamBoard;
  readonly #session: string;
  readonly #messages: LiveMessages;
  readonly #listeners = new Listeners();
  /** Running streams whose message was seen: they stay hidden, whatever becomes of the message. */
  #seen: ReadonlySet<string> = new Set();
  #entries = NONE;
  #unwatch: (() => void) | undefined;
  #closed = false;

  constructor(board: StreamBoard, session: string, messages: LiveMessages) {
    this.#board = board;
    this.#session = session;
    this.#messages = messages;
  }

  /** In the order they began here. The same object until something in it changes. */
  get entries(): readonly RunningStream[] {
    if (this.#closed) return NONE;
    const running = this.#board.running(this.#session);
    if (running.length === 0 && this.#entries.length === 0) return NONE;
    const shown = new Set(this.#messages.entries.map(({ message }) => message.id));
    this.#seen = new Set(running.map(({ id }) => id).filter((id) => shown.has(id) || this.#seen.has(id)));
    const next = running.filter(({ id }) => !this.#seen.has(id));
    const same =
      next.length === this.#entries.length && next.every((entry, at) => entry === this.#entries[at]);
    if (!same) this.#entries = Object.freeze(next);
    return this.#entries;
  }

  /** Told after each change of `entries`. */
  subscribe(listener: () => void): () => void {
    const end = this.#listeners.add(listener);
    this.#begin();
    return end;
  }

  close(): void {
    this.#closed = true;
    this.#unwatch?.();
    this.#listeners.clear();
  }

  #begin(): void {
    if (this.#unwatch !== undefined || this.#closed) return;
    let before = this.entries;
    const look = (): void => {
      const now = this.entries;
      if (now === before) return;
      before = now;
      this.#listeners.tell();
    };
    const ends = [this.#board.watch(this.#session, look), this.#messages.subscribe(look)];
    this.#unwatch = () => {
      for (const end of ends) end();
    };
  }
}
