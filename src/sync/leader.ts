import type { Environment } from "../env/environment.ts";
import type { PageSignal } from "../env/page.ts";
import type { LocalDatabase } from "../store/database.ts";
import { claimEpoch, heldEpoch, nextEpoch } from "../store/fenced-database.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import { LeaderWatch } from "./leader-watch.ts";
import { holdLease } from "./lease.ts";

export interface LeaderOptions {
  /** Names the lock: one leader a name. */
  readonly name: string;
  /** Tells this tab from the others. */
  readonly tab: string;
  readonly env: Pick<Environment, "tabs" | "clock" | "random" | "page" | "reporter">;
  /** Gives each lead a number greater than each before, where all tabs see it: what fences a former leader. */
  readonly db: LocalDatabase<SyncRows>;
  readonly events: LeaderEvents;
}

export interface LeaderEvents {
  /** This tab connects and sends for all. */
  onLead(epoch: number): void;
  /** No longer. Always after `onLead`, never twice in a row. */
  onLose(): void;
  /** The leader, another tab, does not answer; or it does again. */
  onDoubt?(silent: boolean): void;
}

/** How long to wait before queueing again when leading could not begin or was taken away. */
const AGAIN_MS = 1_000;

/**
 * Whether this tab is the one that speaks to the relay: whoever holds the lock leads, the others wait in its queue. Where
 * there are no locks, a lease in the database takes their place. A leader that is silent loses the lock to a follower, and
 * its epoch with it; one whose page goes to sleep gives it up by itself.
 */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #watch: LeaderWatch;
  readonly #closing = new AbortController();
  readonly #leavePage: () => void;
  readonly #done: Promise<void>;
  #epoch: number | undefined;
  /** Which hold of the lock this is: one that was taken away must not begin late. */
  #turn = 0;
  #asleep = false;
  /** Ends the work under the lock, and with it the lock; or ends a pause. */
  #step = (): void => {};
  /** Leaves the queue for the lock. */
  #leaveQueue = (): void => {};

  /** Queues at once. Events never fire before the constructor has returned. */
  constructor(options: LeaderOptions) {
    this.#options = options;
    const { name, env, events } = options;
    this.#watch = new LeaderWatch({
      name,
      env,
      epoch: () => this.#epoch,
      doubted: (silent) => {
        // Whom it doubts it may never have heard.
        if (silent) void heldEpoch(options.db).then((epoch) => this.#watch.learn(epoch), unread);
        events.onDoubt?.(silent);
      },
      outranked: () => this.#stepDown(),
    });
    this.#leavePage = env.page.watch((signal) => this.#pageTold(signal));
    this.#done = this.#run();
  }

  get leading(): boolean {
    return this.#epoch !== undefined;
  }

  /** The number of this tab's lead; undefined while it follows. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** The latest lead that this tab has heard of, its own or another's. */
  get latestEpoch(): number {
    return this.#watch.latest;
  }

  /** Another has a later epoch: this one is over. Queues again. */
  fenced(epoch: number): void {
    if (this.#epoch === epoch) this.#stepDown();
  }

  /** Stops leading, or leaves the queue. Resolves when another tab may lead. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#leavePage();
    this.#leaveQueue();
    this.#stepDown();
    this.#watch.close();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { env } = this.#options;
    const { signal } = this.#closing;
    // The first turn is the constructor's caller's.
    await Promise.resolve();
    while (!signal.aborted) {
      try {
        await this.#hold();
      } catch (error) {
        if (!signal.aborted && !this.#asleep && !isAbort(error)) {
          env.reporter.report("error", "leader.failed", { error: error instanceof Error ? error.name : "" });
        }
      }
      // Where the lock was taken away the work under it still waits.
      this.#stepDown();
      await this.#pause();
    }
    this.#lose();
  }

  /** Holds the lock or the lease while this tab leads. */
  async #hold(): Promise<void> {
    const { name, tab, env, db } = this.#options;
    const leaving = new AbortController();
    let silent = false;
    this.#leaveQueue = () => leaving.abort();
    if (this.#closing.signal.aborted || this.#asleep) return;
    const lead = (): Promise<void> => this.#lead();
    if (!env.tabs.locksAvailable) {
      await holdLease({ db, clock: env.clock, tab, signal: leaving.signal }, lead, () => this.#stepDown());
      return;
    }
    this.#watch.start(() => {
      silent = true;
      leaving.abort();
    });
    try {
      await env.tabs.lock(name, lead, { signal: leaving.signal });
    } catch (error) {
      if (!silent || this.#closing.signal.aborted || this.#asleep) throw error;
    } finally {
      this.#watch.stop();
    }
    if (silent && !this.#closing.signal.aborted) await this.#steal();
  }

  /**
   * Takes the lock from a leader that is silent. Of several that would, the one whose claim on the epoch comes first
   * does. Not by a lock of its own: a tab that is frozen while it holds that one would keep all others from it.
   */
  async #steal(): Promise<void> {
    const { name, env, db } = this.#options;
    const doubted = this.#watch.latest;
    const { claimed, standing } = await claimEpoch(db, doubted);
    this.#watch.learn(standing);
    if (!claimed || this.#closing.signal.aborted || this.#asleep) return;
    env.reporter.report("info", "leader.silent", { epoch: doubted });
    await env.tabs.lock(name, () => this.#lead(standing), { steal: true });
  }

  async #lead(claimed?: number): Promise<void> {
    this.#watch.stop();
    this.#turn += 1;
    const turn = this.#turn;
    const epoch = await nextEpoch(this.#options.db, { latest: this.#watch.latest, claimed });
    if (this.#turn !== turn || this.#closing.signal.aborted || this.#asleep) return;
    const stepped = new Promise<void>((resolve) => {
      this.#step = resolve;
    });
    this.#epoch = epoch;
    this.#options.env.reporter.report("info", "leader.leads", { epoch });
    this.#watch.announce(epoch);
    this.#options.events.onLead(epoch);
    await stepped;
  }

  /** What was led is lost before the lock is free, so that two never lead at once. */
  #stepDown(): void {
    this.#turn += 1;
    this.#lose();
    this.#step();
  }

  #lose(): void {
    if (this.#epoch === undefined) return;
    this.#epoch = undefined;
    this.#options.events.onLose();
  }

  #pageTold(signal: PageSignal): void {
    if (signal === "freeze" || signal === "pagehide") {
      this.#asleep = true;
      this.#leaveQueue();
      this.#stepDown();
    } else if (this.#asleep && (signal === "resume" || signal === "pageshow" || signal === "visible")) {
      this.#asleep = false;
      this.#step();
    }
  }

  /** Until it makes sense to queue again. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closing.signal.aborted) return resolve();
      const cancel = this.#asleep ? () => {} : this.#options.env.clock.after(AGAIN_MS, resolve);
      this.#step = () => {
        cancel();
        resolve();
      };
    });
  }
}

/** What is read again, and told, before anything is taken. */
function unread(): void {}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
