import type { Clock } from "../env/clock.ts";
import { type HoldfastError, StorageError } from "../model/errors.ts";
import type { LocalDatabase } from "../store/database.ts";
import { isWiped } from "../store/erase.ts";
import { Listeners } from "../store/listeners.ts";
import { examine, type Findings } from "../store/mend.ts";
import { hasUnsentState, SESSION_COUNT, unsentSessions } from "../store/session-rows.ts";
import { storageError } from "../store/storage-failure.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import type { LinkStatus } from "./connection-state.ts";

/**
 * Where a client keeps its data. `persisted` the browser promised not to evict it · `best-effort` it may, when room runs
 * out · `memory` nothing outlasts the client · `blocked`, `reset` and `upgrade-required` as the reasons of a StorageError.
 */
export type StorageStatus = "persisted" | "best-effort" | "memory" | "blocked" | "reset" | "upgrade-required";

/** What becomes of a database while a client uses it. */
export type StorageNews = Pick<ClientStatus, "storage"> & Partial<Pick<ClientStatus, "lastError" | "link">>;

/** What a client tells of itself. A new object after each change. */
export interface ClientStatus {
  readonly link: LinkStatus;
  /** Ops in the outbox, and one for each session whose state has changes that the relay has not acknowledged. */
  readonly pending: number;
  readonly rejected: number;
  /** ISO time at which this client last stored an answer of the relay. */
  readonly lastSyncedAt: string | undefined;
  readonly lastError: HoldfastError | undefined;
  readonly storage: StorageStatus;
  /** This tab holds the connection. */
  readonly leader: boolean;
}

/** The last word of a client whose data was deleted by itself. */
export const WIPED: Partial<ClientStatus> = { pending: 0, rejected: 0, storage: "reset" };
/** And of one whose data another tab deleted. */
export const WIPED_ELSEWHERE: Partial<ClientStatus> = {
  ...WIPED,
  lastError: new StorageError("Another tab logged out: what was on this device is deleted", {
    reason: "reset",
  }),
};

/** How long after a failed read the counts are read again. */
const AGAIN_MS = 1_000;

/** Keeps the status true: counts come from stored rows, the rest from whoever knows it (H12). */
export class StatusBoard {
  readonly #db: LocalDatabase<SyncRows>;
  readonly #clock: Clock;
  readonly #listeners = new Listeners();
  readonly #unwatch: () => void;
  /** What the rows of each session say; only sessions that have something to say. */
  readonly #ops = new Map<string, number>();
  readonly #unsent = new Set<string>();
  readonly #stale = new Set<string>();
  #reading: Promise<void> | undefined;
  #status: ClientStatus;
  #stopWaiting = (): void => {};
  #closed = false;

  constructor(db: LocalDatabase<SyncRows>, storage: StorageStatus, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#status = {
      link: "offline",
      pending: 0,
      rejected: 0,
      lastSyncedAt: undefined,
      lastError: undefined,
      storage,
      leader: false,
    };
    this.#unwatch = db.watch(({ sessions }) => {
      for (const session of sessions) this.#stale.add(session);
      void this.refresh();
    });
  }

  get status(): ClientStatus {
    return this.#status;
  }

  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  set(change: Partial<ClientStatus>): void {
    if (this.#closed) return;
    const next = { ...this.#status, ...change };
    // A connection without an error does not hide that the database is not whole.
    if (next.storage === "reset" && change.storage === undefined) next.lastError ??= storageError("reset");
    const keys = Object.keys(change) as (keyof ClientStatus)[];
    if (keys.every((key) => next[key] === this.#status[key])) return;
    this.#status = Object.freeze(next);
    this.#listeners.tell();
  }

  /** Reads everything once; afterwards only what changed. Again when the database is a new one. */
  async begin(): Promise<Findings> {
    this.#ops.clear();
    this.#unsent.clear();
    const { rows, unsent, counted } = await this.#db.read(["sessions", "state", "meta"], async (tx) => ({
      rows: await tx.list("sessions"),
      unsent: await unsentSessions(tx),
      counted: (await tx.get("meta", [SESSION_COUNT]))?.value as number | undefined,
    }));
    for (const id of [...rows.map(({ id }) => id), ...unsent]) this.#stale.add(id);
    await this.refresh();
    return examine(rows, counted);
  }

  /** What it counted may have changed without its being told. */
  doubt(): void {
    // Also with no session in doubt, what was rejected is counted again.
    for (const session of ["", ...this.#ops.keys(), ...this.#unsent]) this.#stale.add(session);
    void this.refresh();
  }

  /** Resolves when the counts tell what is stored now. */
  async refresh(): Promise<void> {
    await this.#reading;
    if (this.#stale.size === 0) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** Says the last word: what is still read is told no more. */
  close(last: Partial<ClientStatus>): void {
    this.#unwatch();
    this.#stopWaiting();
    this.#stale.clear();
    this.set(last);
    this.#closed = true;
    this.#listeners.clear();
  }

  async #read(): Promise<void> {
    this.#stopWaiting();
    let sessions: string[] = [];
    try {
      while (this.#stale.size > 0) {
        sessions = [...this.#stale];
        this.#stale.clear();
        const rejected = await this.#db.read(["sessions", "state", "rejected", "meta"], async (tx) => {
          if (await isWiped(tx)) return undefined;
          for (const session of sessions) {
            const pending = (await tx.get("sessions", [session]))?.view.pending ?? 0;
            if (pending > 0) this.#ops.set(session, pending);
            else this.#ops.delete(session);
            if (await hasUnsentState(tx, session)) this.#unsent.add(session);
            else this.#unsent.delete(session);
          }
          return (await tx.list("rejected")).length;
        });
        // Deleted is not sent: the last counts stand until this tab, too, is told.
        if (rejected === undefined) return;
        let pending = this.#unsent.size;
        for (const ops of this.#ops.values()) pending += ops;
        this.set({ pending, rejected });
      }
    } catch {
      // A database that fails is told by whoever it failed; the last counts stand until it answers again.
      if (this.#closed) return;
      for (const session of sessions) this.#stale.add(session);
      this.#stopWaiting = this.#clock.after(AGAIN_MS, () => void this.refresh());
    }
  }
}
