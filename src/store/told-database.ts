import type { Change, LocalDatabase, Reader, Writer } from "./database.ts";
import { Listeners } from "./listeners.ts";
import type { SyncRows } from "./sync-rows.ts";

type Tables = readonly (keyof SyncRows & string)[];

/** A database whose watchers can be told of what no commit told them: what another tab did, and this one did not hear. */
export class ToldDatabase implements LocalDatabase<SyncRows> {
  readonly #inner: LocalDatabase<SyncRows>;
  readonly #listeners = new Listeners<[Change]>();

  constructor(inner: LocalDatabase<SyncRows>) {
    this.#inner = inner;
    inner.watch((change) => this.tell(change));
  }

  tell(change: Change): void {
    this.#listeners.tell(change);
  }

  read<R>(tables: Tables, work: (tx: Reader<SyncRows>) => Promise<R>): Promise<R> {
    return this.#inner.read(tables, work);
  }

  write<R>(tables: Tables, work: (tx: Writer<SyncRows>) => Promise<R>): Promise<R> {
    return this.#inner.write(tables, work);
  }

  watch(listener: (change: Change) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.#listeners.clear();
  }

  async destroy(): Promise<void> {
    await this.#inner.destroy();
    this.#listeners.clear();
  }
}
