import { StorageError } from "../model/errors.ts";
import type { Change, Key, Schema, TableSpec } from "./database.ts";
import { applyEdits, type Edit, type Entry, indexKeyOf, rowAt } from "./ordered-rows.ts";

/** The rows of one table at one moment, in the order of its key and of each index. */
export interface TableImage {
  readonly spec: TableSpec;
  readonly rows: Entry[];
  readonly indexes: ReadonlyMap<string, Entry[]>;
  /** Transactions that are reading this image. While there are any, a commit makes a new one. */
  readers: number;
}

/** Who has the disk open: a database, and how it learns of commits and of the disk's end. */
export interface DiskUser {
  committed(change: Change): void;
  destroyed(): void;
}

/**
 * What stays when a {@link MemoryDatabase} closes: tables, and the queue of those who write them. Databases opened on
 * one disk are as tabs on one IndexedDB; one opened after another closed is a reload.
 */
export class MemoryDisk {
  readonly #tables = new Map<string, TableImage>();
  readonly #users = new Set<DiskUser>();
  /** For each table, the end of the last write asked for. */
  readonly #ends = new Map<string, Promise<void>>();

  attach(schema: Schema<Record<string, object>>, user: DiskUser): void {
    for (const [name, spec] of Object.entries(schema)) {
      if (!this.#tables.has(name)) this.#tables.set(name, emptyTable(spec));
    }
    this.#users.add(user);
  }

  detach(user: DiskUser): void {
    this.#users.delete(user);
  }

  image(name: string): TableImage {
    const table = this.#tables.get(name);
    if (table === undefined) throw new StorageError(`There is no table "${name}"`, { reason: "failed" });
    return table;
  }

  /** Resolves when the writes asked for so far on these tables are over. */
  async settled(tables: readonly string[]): Promise<void> {
    await Promise.all(tables.map((table) => this.#ends.get(table)));
  }

  /** Runs `work` once the writes of these tables asked for before it are over. */
  async inTurn<R>(tables: readonly string[], work: () => Promise<R>): Promise<R> {
    const before = this.settled(tables);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    for (const table of tables) this.#ends.set(table, ended);
    try {
      await before;
      return await work();
    } finally {
      end();
      for (const table of tables) if (this.#ends.get(table) === ended) this.#ends.delete(table);
    }
  }

  /** Applies the edits of one transaction, each table's sorted by key, all at once, and tells every database. */
  commit(edits: ReadonlyMap<string, readonly Edit[]>): void {
    const tables = new Set<string>();
    const sessions = new Set<string>();
    for (const [name, tableEdits] of edits) {
      if (tableEdits.length === 0) continue;
      tables.add(name);
      for (const { key } of tableEdits) sessions.add(String(key[0]));
      this.#apply(name, tableEdits);
    }
    if (tables.size > 0) for (const user of [...this.#users]) user.committed({ tables, sessions });
  }

  #apply(name: string, edits: readonly Edit[]): void {
    let table = this.image(name);
    if (table.readers > 0) {
      table = copyTable(table);
      this.#tables.set(name, table);
    }
    for (const [index, parts] of Object.entries(table.spec.indexes ?? {})) {
      const entries = table.indexes.get(index);
      if (entries === undefined) continue;
      for (const { key, row } of edits) {
        const old = rowAt(table.rows, key);
        const oldKey = old && indexKeyOf(old, table.spec, parts);
        if (oldKey !== undefined) applyEdits(entries, [{ key: oldKey, row: undefined }]);
        const newKey: Key | undefined = row && indexKeyOf(row, table.spec, parts);
        if (newKey !== undefined) applyEdits(entries, [{ key: newKey, row }]);
      }
    }
    applyEdits(table.rows, edits);
  }

  /** Empties the disk; databases that have it open lose it. */
  destroy(): void {
    for (const [name, table] of this.#tables) this.#tables.set(name, emptyTable(table.spec));
    for (const user of [...this.#users]) user.destroyed();
  }
}

function emptyTable(spec: TableSpec): TableImage {
  const indexes = new Map<string, Entry[]>(Object.keys(spec.indexes ?? {}).map((name) => [name, []]));
  return { spec, rows: [], indexes, readers: 0 };
}

function copyTable(table: TableImage): TableImage {
  const indexes = new Map([...table.indexes].map(([name, entries]) => [name, [...entries]]));
  return { spec: table.spec, rows: [...table.rows], indexes, readers: 0 };
}
