import type { Clock } from "../env/clock.ts";
import type { Reporter } from "../env/reporter.ts";
import type { Tabs } from "../env/tabs.ts";

export interface LeaderOptions {
  /** Names the lock: one leader a name. */
  readonly name: string;
  readonly env: { readonly tabs: Tabs; readonly clock: Clock; readonly reporter: Reporter };
  /** Takes the next number from where all tabs see it, greater than each before: what fences a former leader. */
  readonly nextEpoch: () => Promise<number>;
  readonly events: LeaderEvents;
}

export interface LeaderEvents {
  /** This tab connects and sends for all. */
  onLead(epoch: number): void;
  /** No longer. Always after `onLead`, never twice in a row. */
  onLose(): void;
}

/** How long to wait before queueing again when leading could not begin or was taken away. */
const AGAIN_MS = 1_000;

/**
 * Whether this tab is the one that speaks to the relay: whoever holds the lock leads, the others wait in its queue.
 * Without locks every tab leads, and is `alone`.
 */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #closing = new AbortController();
  readonly #done: Promise<void>;
  #epoch: number | undefined;
  /** Ends the work under the lock, and with it the lock. */
  #step = (): void => {};

  /** Queues at once. Events never fire before the constructor has returned. */
  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  get leading(): boolean {
    return this.#epoch !== undefined;
  }

  /** The number of this tab's lead; undefined while it follows. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** There are no locks here: nothing keeps a second tab from leading too. */
  get alone(): boolean {
    return !this.#options.env.tabs.locksAvailable;
  }

  /** Stops leading, or leaves the queue. Resolves when another tab may lead. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#step();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { name, env } = this.#options;
    const { signal } = this.#closing;
    // The first turn is the constructor's caller's.
    await Promise.resolve();
    while (!signal.aborted) {
      try {
        await env.tabs.lock(name, () => this.#lead(), { signal });
      } catch (error) {
        if (signal.aborted) break;
        env.reporter.report("error", "leader.failed", { error: error instanceof Error ? error.name : "" });
      }
      // Where the lock was taken away the work under it still waits.
      this.#step();
      this.#lose();
      await this.#pause();
    }
    this.#lose();
  }

  async #lead(): Promise<void> {
    const epoch = await this.#options.nextEpoch();
    if (this.#closing.signal.aborted) return;
    const stepped = new Promise<void>((resolve) => {
      this.#step = resolve;
    });
    this.#epoch = epoch;
    this.#options.env.reporter.report("info", "leader.leads", { epoch });
    this.#options.events.onLead(epoch);
    await stepped;
    // Before the lock is free, so that two never lead at once.
    this.#lose();
  }

  #lose(): void {
    if (this.#epoch === undefined) return;
    this.#epoch = undefined;
    this.#options.events.onLose();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closing.signal.aborted) return resolve();
      const cancel = this.#options.env.clock.after(AGAIN_MS, resolve);
      this.#step = () => {
        cancel();
        resolve();
      };
    });
  }
}
