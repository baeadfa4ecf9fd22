import type { Clock } from "../env/clock.ts";
import { StorageError } from "../model/errors.ts";
import type { Change, LocalDatabase, Reader, Writer } from "./database.ts";
import { KeptRows } from "./kept-rows.ts";
import { Listeners } from "./listeners.ts";
import { type HeldDocument, putBack, RENEWED } from "./put-back.ts";
import { SESSION_TABLES } from "./session-rows.ts";
import { storageError } from "./storage-failure.ts";
import type { SyncRows } from "./sync-rows.ts";

/** Whoever keeps something of the database in memory. */
export interface RenewalHost {
  /** The documents that are open here. */
  documents(): readonly HeldDocument[];
  /** Everything known of rows is void; each document stands in that row now. Nothing is read before this returns. */
  renewed(rows: ReadonlyMap<string, number>): void;
}

export interface RenewedDatabaseOptions {
  /** Opens the database. `lost` is told when it has ended, and whether it was destroyed by its owner. */
  readonly make: (lost: (error: StorageError, destroyed: boolean) => void) => LocalDatabase<SyncRows>;
  /** Brings the rows to the version of this code, in a transaction over all tables. */
  readonly begin: (tx: Writer<SyncRows>) => Promise<void>;
  readonly clock: Clock;
  /** Told when the database is lost, and whether it is about to be begun anew. */
  readonly lost: (error: StorageError, renews: boolean) => void;
}

/**
 * When to try, after the loss. The first wait lets a tab that slept hear that another one logged out: then nothing is begun
 * anew.
 */
const TRIES_AFTER_MS = [500, 500, 1_000, 2_000, 4_000, 8_000];

type Tables = readonly (keyof SyncRows & string)[];

/**
 * A database that is begun anew, in the same page, when it is deleted behind our back: by another tab that does not know
 * what it is, by a user who clears the site's data, by the browser that wants the room. What waits for it waits, and goes
 * on with the new one; what was unsent, as far as this tab remembers it, is put back first.
 */
export class RenewedDatabase implements LocalDatabase<SyncRows> {
  readonly #options: RenewedDatabaseOptions;
  readonly #kept = new KeptRows();
  readonly #listeners = new Listeners<[Change]>();
  #inner: LocalDatabase<SyncRows>;
  #renewing: Promise<void> | undefined;
  #host: RenewalHost | undefined;
  #forbidden = false;
  /** What is to be told once the new database is there. */
  #renewed: Change | undefined;
  #wake = (): void => {};

  constructor(options: RenewedDatabaseOptions) {
    this.#options = options;
    this.#inner = this.#make();
  }

  attend(host: RenewalHost): void {
    this.#host = host;
  }

  /** From here on what is deleted stays deleted. */
  forbid(): void {
    this.#forbidden = true;
    this.#wake();
  }

  read<R>(tables: Tables, work: (tx: Reader<SyncRows>) => Promise<R>): Promise<R> {
    return this.#through((db) => db.read(tables, (tx) => work(this.#kept.reading(tx))));
  }

  write<R>(tables: Tables, work: (tx: Writer<SyncRows>) => Promise<R>): Promise<R> {
    return this.#through(async (db) => {
      let notes: (() => void)[] = [];
      const result = await db.write(tables, (tx) => {
        // It may be done again.
        notes = [];
        return work(this.#kept.writing(tx, notes));
      });
      for (const note of notes) note();
      return result;
    });
  }

  watch(listener: (change: Change) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    // What waits for the new database is written there first.
    await this.#renewing;
    this.#forbidden = true;
    this.#listeners.clear();
    await this.#inner.close();
  }

  async destroy(): Promise<void> {
    this.forbid();
    await this.#renewing;
    this.#kept.clear();
    this.#listeners.clear();
    await this.#inner.destroy();
  }

  #make(): LocalDatabase<SyncRows> {
    const inner = this.#options.make((error, destroyed) => {
      // One that is being begun, and failed at it: tried again.
      if (inner !== this.#inner) return;
      const renews = error.reason === "reset" && !destroyed && !this.#forbidden && this.#host !== undefined;
      if (renews) this.#renewing ??= this.#renew();
      this.#options.lost(error, renews);
    });
    inner.watch((change) => {
      if (inner === this.#inner) this.#listeners.tell(change);
    });
    return inner;
  }

  async #through<R>(use: (db: LocalDatabase<SyncRows>) => Promise<R>): Promise<R> {
    for (;;) {
      if (this.#renewing !== undefined) await this.#renewing;
      const inner = this.#inner;
      try {
        return await use(inner);
      } catch (error) {
        const renewed = this.#renewing !== undefined || inner !== this.#inner;
        if (!renewed || !(error instanceof StorageError) || error.reason !== "reset") throw error;
      }
    }
  }

  async #renew(): Promise<void> {
    for (const afterMs of TRIES_AFTER_MS) {
      await this.#pause(afterMs);
      if (this.#forbidden || (await this.#begin())) break;
    }
    this.#renewing = undefined;
    if (this.#renewed !== undefined) this.#listeners.tell(this.#renewed);
    else if (!this.#forbidden) this.#options.lost(storageError("reset"), false);
    this.#renewed = undefined;
  }

  /** Tells whether there is a database again. */
  async #begin(): Promise<boolean> {
    const { begin, clock } = this.#options;
    const inner = this.#make();
    const { ops, rejected } = this.#kept;
    try {
      const lifeOf = (session: string): string | null => this.#kept.lifeOf(session);
      const documents = this.#host?.documents() ?? [];
      const rows = await inner.write(SESSION_TABLES, async (tx) => {
        await begin(tx);
        return putBack(tx, { ops, rejected, documents, lifeOf }, new Date(clock.now()).toISOString());
      });
      this.#inner = inner;
      this.#host?.renewed(rows);
      const sessions = [...ops, ...documents].map(({ session }) => session);
      this.#renewed = { tables: new Set(SESSION_TABLES), sessions: new Set([RENEWED, ...sessions]) };
      return true;
    } catch {
      // Told by what it is tried for, when all tries have failed.
      await inner.close();
      return false;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
