/** A compound key, compared part by part: numbers before strings, as IndexedDB orders them. */
export type Key = readonly (string | number)[];

/** A table's key, and its indexes, as property names of its rows. */
export interface TableSpec {
  readonly key: readonly string[];
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
}
export type Schema<Rows> = { readonly [T in keyof Rows]: TableSpec };

/** Rows whose key (or index) begins with `prefix`, and within it from `from` (inclusive) to `to` (exclusive). */
export interface Range {
  readonly prefix?: Key;
  readonly from?: Key;
  readonly to?: Key;
  /** From the end backwards. */
  readonly reverse?: boolean;
  readonly limit?: number;
  /** The name of an index; the table's key when absent. */
  readonly by?: string;
}

export interface Reader<Rows> {
  get<T extends keyof Rows & string>(table: T, key: Key): Promise<Rows[T] | undefined>;
  list<T extends keyof Rows & string>(table: T, range?: Range): Promise<Rows[T][]>;
}

export interface Writer<Rows> extends Reader<Rows> {
  put<T extends keyof Rows & string>(table: T, row: Rows[T]): Promise<void>;
  delete<T extends keyof Rows & string>(table: T, key: Key): Promise<void>;
  deleteRange<T extends keyof Rows & string>(table: T, range: Range): Promise<void>;
}

/** What a commit changed: the tables, and the sessions (first key part of the rows) within them. */
export interface Change {
  readonly tables: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
}

/**
 * Data at rest on this device: a few tables with atomic transactions. Rows are plain data (JSON and byte arrays),
 * written once and never changed in place. Inside `work` nothing may be awaited but the transaction's own calls:
 * IndexedDB commits as soon as it is left alone.
 */
export interface LocalDatabase<Rows> {
  /** A consistent view of the tables named. */
  read<R>(tables: readonly (keyof Rows & string)[], work: (tx: Reader<Rows>) => Promise<R>): Promise<R>;
  /**
   * All of `work`'s writes, or none when it throws or the commit fails. Resolves after the commit. Work that
   * writes the same table waits for the work before it.
   */
  write<R>(tables: readonly (keyof Rows & string)[], work: (tx: Writer<Rows>) => Promise<R>): Promise<R>;
  /** Tells of every commit that wrote, here and in other tabs, after it and before the write's promise resolves. */
  watch(listener: (change: Change) => void): () => void;
  close(): Promise<void>;
  /** Closes, then deletes everything. */
  destroy(): Promise<void>;
}
