import { StorageError } from "../model/errors.ts";
import type { Key, Range, Reader, Writer } from "./database.ts";
import type { TableImage } from "./memory-disk.ts";
import {
  compareKeys,
  type Edit,
  type Entry,
  indexKeyOf,
  keyOf,
  positionOf,
  rowAt,
  span,
} from "./ordered-rows.ts";

/** One transaction over images of tables: reads see the images and its own writes, which nobody else sees yet. */
export class MemoryTransaction<Rows> implements Reader<Rows>, Writer<Rows> {
  readonly #tables: ReadonlyMap<string, TableImage>;
  readonly #edits = new Map<string, Edit[]>();
  #over = false;

  constructor(tables: ReadonlyMap<string, TableImage>) {
    this.#tables = tables;
  }

  /** Ends the transaction and gives what it wrote, sorted by key. */
  end(): ReadonlyMap<string, readonly Edit[]> {
    this.#over = true;
    return this.#edits;
  }

  async get<T extends keyof Rows & string>(table: T, key: Key): Promise<Rows[T] | undefined> {
    const image = this.#image(table);
    const edit = editAt(this.#edits.get(table) ?? [], key);
    return (edit === undefined ? rowAt(image.rows, key) : edit.row) as Rows[T] | undefined;
  }

  async list<T extends keyof Rows & string>(table: T, range: Range = {}): Promise<Rows[T][]> {
    return this.#select(table, range).map((entry) => entry.row as Rows[T]);
  }

  async put<T extends keyof Rows & string>(table: T, row: Rows[T]): Promise<void> {
    const image = this.#image(table);
    this.#edit(table, { key: keyOf(row as object, image.spec.key), row: row as object });
  }

  async delete<T extends keyof Rows & string>(table: T, key: Key): Promise<void> {
    this.#image(table);
    this.#edit(table, { key, row: undefined });
  }

  async deleteRange<T extends keyof Rows & string>(table: T, range: Range): Promise<void> {
    const { spec } = this.#image(table);
    for (const { row } of this.#select(table, range)) {
      this.#edit(table, { key: keyOf(row, spec.key), row: undefined });
    }
  }

  #image(table: string): TableImage {
    if (this.#over) throw new StorageError("The transaction is over", { reason: "failed" });
    const image = this.#tables.get(table);
    if (image !== undefined) return image;
    throw new StorageError(`The transaction does not cover the table "${table}"`, { reason: "failed" });
  }

  #edit(table: string, edit: Edit): void {
    let edits = this.#edits.get(table);
    if (edits === undefined) {
      edits = [];
      this.#edits.set(table, edits);
    }
    const at = positionOf(edits as Entry[], edit.key);
    const there = edits[at];
    edits.splice(at, there !== undefined && compareKeys(there.key, edit.key) === 0 ? 1 : 0, edit);
  }

  #select(table: string, range: Range): Entry[] {
    const image = this.#image(table);
    const entries = range.by === undefined ? image.rows : image.indexes.get(range.by);
    if (entries === undefined) {
      throw new StorageError(`The table "${table}" has no index "${range.by}"`, { reason: "failed" });
    }
    const edits = this.#edits.get(table);
    const limit = range.limit ?? Number.POSITIVE_INFINITY;
    if (edits === undefined || edits.length === 0) return take(entries, range, limit);
    const untouched = take(entries, { ...range, reverse: false }, Number.POSITIVE_INFINITY).filter(
      ({ row }) => editAt(edits, keyOf(row, image.spec.key)) === undefined,
    );
    const merged = [...untouched, ...edited(edits, image, range)].sort((a, b) => compareKeys(a.key, b.key));
    if (range.reverse) merged.reverse();
    return merged.slice(0, limit);
  }
}

function take(entries: readonly Entry[], range: Range, limit: number): Entry[] {
  const { start, end } = span(entries, range);
  if (!range.reverse) return entries.slice(start, Math.min(end, start + limit));
  return entries.slice(Math.max(start, end - limit), end).reverse();
}

/** The rows written in this transaction that fall into a range, under the key of the range's index. */
function edited(edits: readonly Edit[], { spec }: TableImage, range: Range): Entry[] {
  const index = range.by === undefined ? undefined : spec.indexes?.[range.by];
  const entries: Entry[] = [];
  for (const { key, row } of edits) {
    if (row === undefined) continue;
    const place = index === undefined ? key : indexKeyOf(row, spec, index);
    if (place !== undefined) entries.push({ key: place, row });
  }
  entries.sort((a, b) => compareKeys(a.key, b.key));
  return take(entries, { ...range, reverse: false }, Number.POSITIVE_INFINITY);
}

function editAt(edits: readonly Edit[], key: Key): Edit | undefined {
  const edit = edits[positionOf(edits as readonly Entry[], key)];
  return edit !== undefined && compareKeys(edit.key, key) === 0 ? edit : undefined;
}
