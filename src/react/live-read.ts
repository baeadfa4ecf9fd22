import type { Watched } from "./watched.ts";

/** Where a live read stands. A value once read stays visible while it is read again, and when that fails. */
export type Reading<T> =
  | { readonly phase: "loading"; readonly value: T | undefined }
  | { readonly phase: "ready"; readonly value: T }
  | { readonly phase: "failed"; readonly value: T | undefined; readonly error: unknown };

/**
 * An asynchronous read, kept current: read when the first listener comes, again whenever the source
 * says that something changed, never twice at once. Changes during a read cause one more read, not one each.
 * With no listener left it does nothing, and what a read in flight brings is dropped.
 */
export class LiveRead<T> implements Watched<Reading<T>> {
  readonly #watch: (changed: () => void) => () => void;
  readonly #read: () => Promise<T>;
  readonly #listeners = new Set<() => void>();
  #reading: Reading<T> = { phase: "loading", value: undefined };
  #unwatch: (() => void) | undefined;
  /** Raised at each start and stop, so that a read knows whether anybody still wants what it brings. */
  #turn = 0;
  #inFlight: Promise<void> | undefined;
  #stale = false;

  constructor(watch: (changed: () => void) => () => void, read: () => Promise<T>) {
    this.#watch = watch;
    this.#read = read;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    // Wrapped, so that one function subscribed twice counts as two listeners.
    const own = (): void => listener();
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#stop();
    };
  };

  readonly current = (): Reading<T> => this.#reading;

  /** Reads again. Resolves when what was asked for up to now has been read; never rejects: a failure shows in `current`. */
  refresh(): Promise<void> {
    if (this.#unwatch === undefined) return Promise.resolve();
    this.#stale = true;
    this.#inFlight ??= this.#readWhileStale();
    return this.#inFlight;
  }

  #start(): void {
    this.#turn += 1;
    this.#unwatch = this.#watch(() => void this.refresh());
    void this.refresh();
  }

  #stop(): void {
    this.#turn += 1;
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#inFlight = undefined;
  }

  async #readWhileStale(): Promise<void> {
    const turn = this.#turn;
    while (this.#stale && turn === this.#turn) {
      this.#stale = false;
      const outcome = await this.#readOnce();
      if (turn === this.#turn) this.#show(outcome);
    }
    if (turn === this.#turn) this.#inFlight = undefined;
  }

  async #readOnce(): Promise<Reading<T>> {
    try {
      return { phase: "ready", value: await this.#read() };
    } catch (error) {
      return { phase: "failed", value: this.#reading.value, error };
    }
  }

  #show(reading: Reading<T>): void {
    this.#reading = reading;
    for (const listener of [...this.#listeners]) listener();
  }
}
