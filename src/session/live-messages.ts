import { invalidInput } from "../model/errors.ts";
import { messageEquals } from "../model/message-equality.ts";
import { Listeners } from "../store/listeners.ts";
import type { LiveStore, MessageEntry, Window } from "../store/live-store.ts";

/** How many messages a conversation shows to begin with, and adds each time earlier ones are asked for. */
export const WINDOW_MESSAGES = 50;

const NOTHING: Window = Object.freeze({
  entries: Object.freeze([]),
  hasEarlier: false,
  total: 0,
  damaged: false,
});

/**
 * The live end of a conversation. It begins with the last 50 messages, reads no others, and grows with what is added
 * and with `loadEarlier`. Entries that have not changed are the same objects as before.
 */
export class LiveMessages {
  readonly #store: LiveStore;
  readonly #session: string;
  readonly #listeners = new Listeners();
  #window = NOTHING;
  #count = WINDOW_MESSAGES;
  #unwatch: (() => void) | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(store: LiveStore, session: string) {
    this.#store = store;
    this.#session = session;
  }

  /** Oldest first: confirmed, then pending, then rejected ones. Empty until the first read has finished. */
  get entries(): readonly MessageEntry[] {
    this.#begin();
    return this.#window.entries;
  }

  get hasEarlier(): boolean {
    this.#begin();
    return this.#window.hasEarlier;
  }

  /** Shows `n` more messages before the first one. Resolves when they are there. @throws InvalidInputError for less than one. */
  async loadEarlier(n: number = WINDOW_MESSAGES): Promise<void> {
    if (!Number.isSafeInteger(n) || n < 1) throw invalidInput("n", "must be a whole number from 1");
    this.#begin();
    await this.#reading;
    if (!this.#window.hasEarlier) return;
    this.#count += n;
    await this.#read();
  }

  /** Told after each change of `entries` or `hasEarlier`. */
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
    this.#unwatch = this.#store.watch(this.#session, () => void this.#read());
    void this.#read();
  }

  /** One read at a time; a change during one makes another. */
  #read(): Promise<void> {
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      const before = this.#window.total;
      let next: Window;
      try {
        next = await this.#store.window(this.#session, this.#count);
        // What was shown stays shown when messages are added behind it. When more come at once than a window holds, as
        // page after page of a catch-up, its end is shown: else the window would grow to the whole history.
        const added = before === 0 ? 0 : Math.max(0, next.total - before);
        if (added > 0 && added <= WINDOW_MESSAGES) {
          this.#count += added;
          next = await this.#store.window(this.#session, this.#count);
        }
      } catch {
        // The store tells its failures itself, in the client's status; what was shown stays.
        return;
      }
      if (!this.#closed) this.#show(next);
    }
  }

  #show(next: Window): void {
    const before = this.#window;
    const known = new Map(before.entries.map((entry) => [entry.message.id, entry]));
    const entries = next.entries.map((entry) => {
      const old = known.get(entry.message.id);
      const same = old?.delivery === entry.delivery && messageEquals(old.message, entry.message);
      return same ? old : entry;
    });
    const same =
      entries.length === before.entries.length &&
      entries.every((entry, index) => entry === before.entries[index]);
    this.#window = { ...next, entries: same ? before.entries : Object.freeze(entries) };
    if (same && next.hasEarlier === before.hasEarlier) return;
    this.#listeners.tell();
  }
}
