import type { Collection, Table, Transaction } from "dexie";
import type { Change, Key, Range, Reader, Schema, TableSpec, Writer } from "./database.ts";

/**
 * One Dexie transaction as a {@link Writer}, noting what it changes. Methods hand out Dexie's own promises: anything
 * else, awaited, would let IndexedDB commit too early.
 */
export class DexieTransaction<Rows> implements Reader<Rows>, Writer<Rows> {
  readonly #transaction: Transaction;
  readonly #schema: Schema<Rows>;
  readonly #tables = new Set<string>();
  readonly #sessions = new Set<string>();

  constructor(transaction: Transaction, schema: Schema<Rows>) {
    this.#transaction = transaction;
    this.#schema = schema;
  }

  /** What has been written; undefined when nothing was. */
  get change(): Change | undefined {
    return this.#tables.size === 0 ? undefined : { tables: this.#tables, sessions: this.#sessions };
  }

  get<T extends keyof Rows & string>(table: T, key: Key): Promise<Rows[T] | undefined> {
    return this.#table(table).get(nativeKey(key, this.#schema[table].key));
  }

  list<T extends keyof Rows & string>(table: T, range: Range = {}): Promise<Rows[T][]> {
    return this.#select(table, range).toArray();
  }

  put<T extends keyof Rows & string>(table: T, row: Rows[T]): Promise<void> {
    const first = this.#schema[table].key[0];
    this.#touch(table, first === undefined ? "" : (row as Readonly<Record<string, unknown>>)[first]);
    return this.#table(table).put(row) as Promise<unknown> as Promise<void>;
  }

  delete<T extends keyof Rows & string>(table: T, key: Key): Promise<void> {
    this.#touch(table, key[0]);
    return this.#table(table).delete(nativeKey(key, this.#schema[table].key));
  }

  async deleteRange<T extends keyof Rows & string>(table: T, range: Range): Promise<void> {
    const selected = this.#select(table, range);
    const session = range.by === undefined ? range.prefix?.[0] : undefined;
    if (session !== undefined && range.limit === undefined) {
      if ((await selected.delete()) > 0) this.#touch(table, session);
      return;
    }
    const keys = await selected.primaryKeys();
    for (const key of keys) this.#touch(table, Array.isArray(key) ? key[0] : key);
    await this.#table(table).bulkDelete(keys);
  }

  #table<T extends keyof Rows & string>(table: T): Table<Rows[T], unknown> {
    return this.#transaction.table<Rows[T], unknown>(table);
  }

  #touch(table: string, session: unknown): void {
    this.#tables.add(table);
    this.#sessions.add(String(session));
  }

  #select<T extends keyof Rows & string>(table: T, range: Range): Collection<Rows[T], unknown> {
    const spec = this.#schema[table];
    const parts = range.by === undefined ? spec.key : (spec.indexes?.[range.by] ?? []);
    const { lower, upper, closed } = bounds(range, parts);
    const where = this.#table(table).where(range.by === undefined ? ":id" : nativeIndex(parts));
    const all = where.between(lower, upper, true, closed);
    const ordered = range.reverse ? all.reverse() : all;
    return range.limit === undefined ? ordered : ordered.limit(range.limit);
  }
}

/** The stores of a schema in Dexie's words. A key of one part stands bare, one of several as an array. */
export function dexieStores<Rows>(schema: Schema<Rows>): Record<string, string> {
  const specs = Object.entries<TableSpec>(schema as Readonly<Record<string, TableSpec>>);
  return Object.fromEntries(
    specs.map(([name, { key, indexes = {} }]) => [
      name,
      [key, ...Object.values(indexes)].map(nativeIndex).join(","),
    ]),
  );
}

function nativeIndex(parts: readonly string[]): string {
  return parts.length === 1 ? String(parts[0]) : `[${parts.join("+")}]`;
}

function nativeKey(key: Key, parts: readonly string[]): unknown {
  return parts.length === 1 ? key[0] : key;
}

/** Keys below and above all others. In this order stand numbers, text, arrays. */
const LOWEST = Number.NEGATIVE_INFINITY;
const HIGHEST: unknown = [[]];

function bounds(range: Range, parts: readonly string[]): { lower: unknown; upper: unknown; closed: boolean } {
  const prefix = range.prefix ?? [];
  const from = [...prefix, ...(range.from ?? [])];
  const lower = from.length === 0 ? LOWEST : nativeKey(from, parts);
  if (range.to !== undefined)
    return { lower, upper: nativeKey([...prefix, ...range.to], parts), closed: false };
  if (prefix.length === 0) return { lower, upper: HIGHEST, closed: true };
  const upper = parts.length === 1 ? prefix[0] : [...prefix, HIGHEST];
  return { lower, upper, closed: true };
}
