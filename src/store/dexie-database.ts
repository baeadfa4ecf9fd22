import { Dexie, type Transaction } from "dexie";
import type { TabChannel } from "../env/tabs.ts";
import { within } from "../env/within.ts";
import type { StorageErrorReason } from "../model/errors.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { CommitMarks, isMarked, type Mark, putMark } from "./commit-mark.ts";
import type { Change, LocalDatabase, Reader, Schema, Writer } from "./database.ts";
import { IDENTITY_TABLE, identityOf, isDestroyed, markDestroyed } from "./database-identity.ts";
import { DELETION_MS, type DexieDatabaseOptions, dexieOptions, LIMIT_MS } from "./dexie-options.ts";
import { transact } from "./dexie-transact.ts";
import { DexieTransaction, dexieStores } from "./dexie-transaction.ts";
import { Listeners } from "./listeners.ts";
import { PageSleep } from "./page-sleep.ts";
import { isPassing, isTimeout, isTrouble, storageError, translateFailure } from "./storage-failure.ts";
import { readChange } from "./tab-change.ts";

/** How often it is looked up whether a transaction was committed, when the looking fails too. */
const LOOKUPS = 3;

/**
 * A {@link LocalDatabase} in IndexedDB. Opens at the first use; errors of the browser's storage come as
 * {@link StorageError} with their reason, errors of the work itself unchanged.
 */
export class DexieDatabase<Rows> implements LocalDatabase<Rows> {
  readonly #schema: Schema<Rows>;
  readonly #options: DexieDatabaseOptions;
  readonly #dexie: Dexie;
  readonly #channel: TabChannel | undefined;
  readonly #listeners = new Listeners<[Change]>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #breaker: CircuitBreaker;
  readonly #marks = new CommitMarks();
  readonly #sleep: PageSleep;
  /** How often the connection was opened anew. */
  #life = 0;
  #opened: Promise<unknown> | undefined;
  /** Opening waits for another tab to close. */
  #waiting = false;
  #identity: string | undefined;
  #ended: StorageErrorReason | undefined;

  constructor(schema: Schema<Rows>, options: DexieDatabaseOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#sleep = new PageSleep(options.page);
    this.#breaker = new CircuitBreaker(options.clock);
    this.#dexie = new Dexie(options.name, dexieOptions(options));
    this.#dexie.version(options.version ?? 1).stores({ ...dexieStores(schema), [IDENTITY_TABLE]: "key" });
    this.#dexie.on("ready", () => this.#recognise(), true);
    this.#dexie.on("blocked", () => {
      this.#waiting = true;
      options.blocked?.();
    });
    this.#dexie.on("versionchange", ({ newVersion }) => {
      if (newVersion === null) void this.#deleted();
      else this.#lose("upgrade-required");
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
      const opened = this.#opened;
      await within(this.#options.clock, LIMIT_MS.open, opened, () => {
        // What waits for another tab was told so, and goes on waiting.
        if (this.#waiting) return opened;
        throw storageError("timeout");
      });
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
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    // What was asked for before this call still finishes; what is asked from now on is refused.
    const running = [...this.#running];
    this.#ended ??= "closed";
    this.#sleep.close();
    // Nobody knows whether the other tab ever closes: then there is nothing to wait for.
    if (this.#waiting) this.#dexie.close();
    await Promise.allSettled(running);
    this.#dexie.close();
    this.#listeners.clear();
    this.#channel?.close();
  }

  async destroy(): Promise<void> {
    // Where it cannot be written, other tabs may take the deletion for the browser's.
    if (this.#ended === undefined) await markDestroyed(this.#dexie).catch(() => undefined);
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
    const mark = this.#marks.next();
    const result = await this.#run(
      "rw!",
      [...tables, IDENTITY_TABLE],
      async (transaction) => {
        const writer = this.#over(transaction);
        const done = await work(writer);
        change = writer.change;
        if (change !== undefined) await putMark(transaction.table(IDENTITY_TABLE), mark);
        return done;
      },
      mark,
    );
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
    mark?: Mark,
  ): Promise<R> {
    const begun = this.#breaker.check();
    try {
      const result = await this.#attempt(mode, tables, work, mark);
      this.#breaker.succeeded();
      return result;
    } catch (error) {
      if (this.#ended === undefined && isTrouble(error)) this.#breaker.failed(begun, error);
      throw error;
    }
  }

  /** Does it, and once more when the storage failed rather than the work. */
  async #attempt<R>(
    mode: "r!" | "rw!",
    tables: readonly string[],
    work: (transaction: Transaction) => Promise<R>,
    mark: Mark | undefined,
  ): Promise<R> {
    let reached: { readonly result: R } | undefined;
    const noting = async (transaction: Transaction): Promise<R> => {
      const result = await work(transaction);
      reached = { result };
      return result;
    };
    for (let again = false; ; again = true) {
      // Every call passes here in its turn, so that none overtakes those that waited for the opening.
      await this.open();
      const life = this.#life;
      try {
        return await this.#sleep.through(noting, (work) =>
          transact({ dexie: this.#dexie, clock: this.#options.clock, mode, tables }, work),
        );
      } catch (error) {
        const failed = this.#translate(error);
        if (this.#ended !== undefined || !isPassing(error)) throw failed;
        // Whoever waited so long does not wait again; who comes next gets a fresh connection.
        const late = isTimeout(error);
        if (late) this.#leave(life);
        if (late && (mark === undefined || reached === undefined)) throw failed;
        // It may have been committed, and only its end was not told.
        if ((await this.#openAgain(life, mark)) && reached !== undefined) return reached.result;
        if (again || late) throw failed;
      }
    }
  }

  /** Opens anew, once for all that lost the connection. Tells whether the transaction of that mark had been committed. */
  async #openAgain(life: number, mark: Mark | undefined): Promise<boolean> {
    for (let [lost, triesLeft] = [life, LOOKUPS]; ; [lost, triesLeft] = [this.#life, triesLeft - 1]) {
      this.#leave(lost);
      try {
        await this.open();
        if (mark === undefined) return false;
        const looked = Promise.resolve(isMarked(this.#dexie.table(IDENTITY_TABLE), mark));
        return await within(this.#options.clock, LIMIT_MS.transaction, looked, () => {
          throw storageError("timeout");
        });
      } catch (error) {
        if (triesLeft === 0 || isTimeout(error) || this.#ended !== undefined) throw this.#translate(error);
      }
    }
  }

  /** The connection of that life is not used any more. */
  #leave(life: number): void {
    if (this.#life !== life) return;
    this.#life += 1;
    this.#dexie.close({ disableAutoOpen: false });
    this.#opened = undefined;
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
    const backend = this.#dexie.backendDB();
    // Whoever writes nothing would not learn that more than the connection is gone.
    const look = (): void => void this.#options.clock?.after(DELETION_MS.reopen, () => this.#lookAgain());
    backend.addEventListener("close", look);
    if (backend.version > (this.#options.version ?? 1) * 10) {
      this.#lose("upgrade-required");
      throw storageError("upgrade-required");
    }
    const id = await identityOf(this.#dexie, this.#identity);
    if (this.#identity !== undefined && id !== this.#identity) {
      this.#lose("reset");
      throw storageError("reset");
    }
    this.#identity = id;
  }

  /** Another tab deletes the database; that waits until this connection is closed. */
  async #deleted(): Promise<void> {
    let destroyed = false;
    try {
      const looked = Promise.resolve(isDestroyed(this.#dexie));
      destroyed = await within(this.#options.clock, DELETION_MS.look, looked, () => false);
    } catch {
      // The connection is gone already.
    }
    this.#lose("reset", destroyed);
  }

  #lookAgain(): void {
    if (this.#ended !== undefined) return;
    this.#leave(this.#life);
    this.open().catch(() => {
      // Told when it was lost; else the next use tries again.
    });
  }

  #lose(reason: StorageErrorReason, destroyed = false): void {
    this.#dexie.close();
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#options.lost?.(storageError(reason), destroyed);
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
    this.#listeners.tell(change);
  }
}
