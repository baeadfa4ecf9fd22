import { StorageError, type StorageErrorReason } from "../model/errors.ts";
import type { Change, LocalDatabase, Reader, Schema, Writer } from "./database.ts";
import { Listeners } from "./listeners.ts";
import { type DiskUser, MemoryDisk, type TableImage } from "./memory-disk.ts";
import { MemoryTransaction } from "./memory-transaction.ts";

export interface MemoryDatabaseOptions {
  /** Where the rows are. A disk of its own when absent. */
  readonly disk?: MemoryDisk | undefined;
  /** Told once when the database ends otherwise than by its own `close`, `destroy` or `kill`. */
  readonly lost?: ((error: StorageError) => void) | undefined;
}

/**
 * A {@link LocalDatabase} in memory, as IndexedDB behaves: writes of one table one after another and all or nothing,
 * reads of one moment, commits seen by every database on the disk. It takes microtasks alone, never time.
 */
export class MemoryDatabase<Rows> implements LocalDatabase<Rows> {
  readonly #disk: MemoryDisk;
  readonly #user: DiskUser;
  readonly #listeners = new Listeners<[Change]>();
  readonly #running = new Set<Promise<unknown>>();
  /** Ends the transactions that are running, for {@link kill} and for a disk that is destroyed. */
  readonly #aborts = new Set<() => void>();
  #ended: { readonly reason: StorageErrorReason; readonly commits: boolean } | undefined;

  constructor(schema: Schema<Rows>, options: MemoryDatabaseOptions = {}) {
    this.#disk = options.disk ?? new MemoryDisk();
    this.#user = {
      committed: (change) => this.#tell(change),
      destroyed: () => {
        if (this.#ended !== undefined) return;
        this.#end({ reason: "reset", commits: false });
        options.lost?.(this.#gone());
      },
    };
    this.#disk.attach(schema as Schema<Record<string, object>>, this.#user);
  }

  async read<R>(
    tables: readonly (keyof Rows & string)[],
    work: (tx: Reader<Rows>) => Promise<R>,
  ): Promise<R> {
    this.#mustBeOpen();
    return this.#track(this.#read(tables, work));
  }

  async write<R>(
    tables: readonly (keyof Rows & string)[],
    work: (tx: Writer<Rows>) => Promise<R>,
  ): Promise<R> {
    this.#mustBeOpen();
    return this.#track(this.#disk.inTurn(tables, () => this.#write(tables, work)));
  }

  watch(listener: (change: Change) => void): () => void {
    // Wrapped, so that the same function may listen twice.
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    if (this.#ended === undefined) this.#end({ reason: "closed", commits: true });
    await Promise.allSettled(this.#running);
    this.#listeners.clear();
    this.#disk.detach(this.#user);
  }

  async destroy(): Promise<void> {
    await this.close();
    this.#disk.destroy();
  }

  /** What happens to a tab that is killed: whatever has not committed by now never will. For tests. */
  kill(): void {
    this.#end({ reason: "closed", commits: false });
    this.#listeners.clear();
    this.#disk.detach(this.#user);
  }

  async #read<R>(tables: readonly string[], work: (tx: Reader<Rows>) => Promise<R>): Promise<R> {
    await this.#disk.settled(tables);
    const images = this.#images(tables);
    const transaction = new MemoryTransaction<Rows>(images);
    for (const image of images.values()) image.readers += 1;
    try {
      return await this.#unlessAborted(work(transaction));
    } finally {
      transaction.end();
      for (const image of images.values()) image.readers -= 1;
    }
  }

  async #write<R>(tables: readonly string[], work: (tx: Writer<Rows>) => Promise<R>): Promise<R> {
    const transaction = new MemoryTransaction<Rows>(this.#images(tables));
    try {
      const result = await this.#unlessAborted(work(transaction));
      if (this.#ended !== undefined && !this.#ended.commits) throw this.#gone();
      this.#disk.commit(transaction.end());
      return result;
    } finally {
      transaction.end();
    }
  }

  #unlessAborted<R>(work: Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(this.#gone());
      this.#aborts.add(abort);
      const done = (): boolean => this.#aborts.delete(abort);
      work.then(
        (result) => done() && resolve(result),
        (error: unknown) => done() && reject(error),
      );
    });
  }

  #images(tables: readonly string[]): Map<string, TableImage> {
    if (this.#ended !== undefined && !this.#ended.commits) throw this.#gone();
    return new Map(tables.map((table) => [table, this.#disk.image(table)]));
  }

  async #track<R>(work: Promise<R>): Promise<R> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** The commit stands whatever a listener does. */
  #tell(change: Change): void {
    this.#listeners.tell(change);
  }

  #end(ended: { readonly reason: StorageErrorReason; readonly commits: boolean }): void {
    this.#ended = ended;
    if (ended.commits) return;
    for (const abort of this.#aborts) abort();
    this.#aborts.clear();
  }

  #mustBeOpen(): void {
    if (this.#ended !== undefined) throw this.#gone();
  }

  #gone(): StorageError {
    const reason = this.#ended?.reason ?? "closed";
    const message = reason === "reset" ? "The database was deleted" : "The database is closed";
    return new StorageError(message, { reason });
  }
}
