import { Dexie, type DexieOptions, type Transaction } from "dexie";
import type { TabChannel, Tabs } from "../env/tabs.ts";
import type { StorageError, StorageErrorReason } from "../model/errors.ts";
import { newId } from "../model/ids.ts";
import type { Change, LocalDatabase, Reader, Schema, Writer } from "./database.ts";
import { DexieTransaction, dexieStores } from "./dexie-transaction.ts";
import { tellAll } from "./listeners.ts";
import { storageError, translateFailure } from "./storage-failure.ts";

export interface DexieDatabaseOptions {
  /** The database's name among those of this origin. */
  readonly name: string;
  /** The schema's version, from 1. A database that a higher one has opened is refused. */
  readonly version?: number | undefined;
  /** Tells commits to the other tabs, and theirs to this one. Without it a database hears only of its own. */
  readonly tabs?: Pick<Tabs, "channel"> | undefined;
  /** IndexedDB, where it is not the platform's own. */
  readonly indexedDB?: IDBFactory | undefined;
  readonly IDBKeyRange?: typeof IDBKeyRange | undefined;
  /** Told once when the database ends otherwise than by its own `close` or `destroy`. */
  readonly lost?: ((error: StorageError) => void) | undefined;
  /** Told when opening has to wait for a tab that holds an older version open. */
  readonly blocked?: (() => void) | undefined;
}

/** Where each database notes which life of it this is: one deleted and made anew behind our back is another. */
const IDENTITY_TABLE = "holdfast";

/**
 * A {@link LocalDatabase} in IndexedDB. Opens at the first use; errors of the browser's storage come as
 * {@link StorageError} with their reason, errors of the work itself unchanged.
 */
export class DexieDatabase<Rows> implements LocalDatabase<Rows> {
  readonly #schema: Schema<Rows>;
  readonly #options: DexieDatabaseOptions;
  readonly #dexie: Dexie;
  readonly #channel: TabChannel | undefined;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #running = new Set<Promise<unknown>>();
  #opened: Promise<unknown> | undefined;
  /** Opening waits for another tab to close. */
  #waiting = false;
  #identity: string | undefined;
  #ended: StorageErrorReason | undefined;

  constructor(schema: Schema<Rows>, options: DexieDatabaseOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#dexie = new Dexie(options.name, dexieOptions(options));
    this.#dexie.version(options.version ?? 1).stores({ ...dexieStores(schema), [IDENTITY_TABLE]: "key" });
    this.#dexie.on("ready", () => this.#recognise(), true);
    this.#dexie.on("blocked", () => {
      this.#waiting = true;
      options.blocked?.();
    });
    this.#dexie.on("versionchange", ({ newVersion }) => {
      this.#lose(newVersion === null ? "reset" : "upgrade-required");
      // Keeps Dexie's own handler from closing with the promise to open again.
      return false;
    });
    this.#channel = options.tabs?.channel(`holdfast ${options.name}`, (data) => {
      const change = readChange(data);
      if (change !== undefined && this.#ended === undefined) this.#tell(change);
    });
  }

  /** Opens now rather than at the first use. @throws StorageError when it cannot be opened; the next use tries again. */
  async open(): Promise<void> {
    if (this.#ended !== undefined) throw storageError(this.#ended);
    this.#opened ??= Promise.resolve(this.#dexie.open());
    try {
      await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw this.#translate(error);
    } finally {
      this.#waiting = false;
    }
  }

  async read<R>(
    tables: readonly (keyof Rows & string)[],
    work: (tx: Reader<Rows>) => Promise<R>,
  ): Promise<R> {
    return this.#track(this.#run("r!", tables, (transaction) => work(this.#over(transaction))));
  }

  async write<R>(
    tables: readonly (keyof Rows & string)[],
    work: (tx: Writer<Rows>) => Promise<R>,
  ): Promise<R> {
    return this.#track(this.#write(tables, work));
  }

  watch(listener: (change: Change) => void): () => void {
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    // What was asked for before this call still finishes; what is asked from now on is refused.
    const running = [...this.#running];
    this.#ended ??= "closed";
    // Nobody knows whether the other tab ever closes: then there is nothing to wait for.
    if (this.#waiting) this.#dexie.close();
    await Promise.allSettled(running);
    this.#dexie.close();
    this.#listeners.clear();
    this.#channel?.close();
  }

  async destroy(): Promise<void> {
    await this.close();
    try {
      await this.#dexie.delete();
    } catch (error) {
      throw translateFailure(error);
    }
  }

  async #write<R>(
    tables: readonly (keyof Rows & string)[],
    work: (tx: Writer<Rows>) => Promise<R>,
  ): Promise<R> {
    let change: Change | undefined;
    const result = await this.#run("rw!", tables, async (transaction) => {
      const writer = this.#over(transaction);
      const done = await work(writer);
      change = writer.change;
      return done;
    });
    if (change !== undefined) {
      this.#tell(change);
      this.#channel?.post({ tables: [...change.tables], sessions: [...change.sessions] });
    }
    return result;
  }

  async #run<R>(
    mode: "r!" | "rw!",
    tables: readonly string[],
    work: (transaction: Transaction) => Promise<R>,
  ): Promise<R> {
    // Every call passes here in its turn, so that none overtakes those that waited for the opening.
    await this.open();
    try {
      return await this.#dexie.transaction(mode, [...tables], async (transaction) => {
        const result = await work(transaction);
        // Said, so that a tab frozen right now holds up no other: left alone, the commit waits for this tab.
        if (mode === "rw!") transaction.idbtrans.commit?.();
        return result;
      });
    } catch (error) {
      throw this.#translate(error);
    }
  }

  #over(transaction: Transaction): DexieTransaction<Rows> {
    return new DexieTransaction<Rows>(transaction, this.#schema);
  }

  async #track<R>(work: Promise<R>): Promise<R> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Runs at every opening, also when Dexie opens again by itself after the browser closed the connection. */
  async #recognise(): Promise<void> {
    if (this.#dexie.backendDB().version > (this.#options.version ?? 1) * 10) {
      this.#lose("upgrade-required");
      throw storageError("upgrade-required");
    }
    const table = this.#dexie.table<{ key: string; id: string }, string>(IDENTITY_TABLE);
    // One transaction: of tabs that open a new database at the same moment one names it.
    const id = await this.#dexie.transaction("rw", table, async () => {
      const held = await table.get("identity");
      if (held !== undefined || this.#identity !== undefined) return held?.id;
      const own = newId();
      await table.add({ key: "identity", id: own });
      return own;
    });
    if (this.#identity !== undefined && id !== this.#identity) {
      this.#lose("reset");
      throw storageError("reset");
    }
    this.#identity = id;
  }

  #lose(reason: StorageErrorReason): void {
    this.#dexie.close();
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#options.lost?.(storageError(reason));
  }

  #translate(error: unknown): unknown {
    const translated = translateFailure(error);
    // Dexie says "closed" whatever closed it; why is known here.
    const reason = this.#ended;
    const closed = reason !== undefined && reason !== "closed" && translated !== error;
    return closed ? storageError(reason, error) : translated;
  }

  /** The commit stands whatever a listener does. */
  #tell(change: Change): void {
    tellAll(this.#listeners, change);
  }
}

function dexieOptions({ indexedDB, IDBKeyRange }: DexieDatabaseOptions): DexieOptions {
  return {
    cache: "disabled",
    ...(indexedDB === undefined ? {} : { indexedDB }),
    ...(IDBKeyRange === undefined ? {} : { IDBKeyRange }),
  };
}

/** A change as another tab posted it; undefined for anything else on the channel. */
function readChange(data: unknown): Change | undefined {
  if (typeof data !== "object" || data === null || !("tables" in data) || !("sessions" in data))
    return undefined;
  const { tables, sessions } = data;
  if (!Array.isArray(tables) || !Array.isArray(sessions)) return undefined;
  return { tables: new Set(tables.map(String)), sessions: new Set(sessions.map(String)) };
}
