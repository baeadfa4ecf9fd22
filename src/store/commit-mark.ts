import type { Table } from "dexie";
import { newId } from "../model/ids.ts";

/** Names one transaction of one open database. */
export interface Mark {
  readonly key: string;
  readonly by: string;
  readonly n: number;
}

interface MarkRow {
  readonly key: string;
  readonly by: string;
  /** The last transactions that were committed, oldest first. */
  readonly done: readonly number[];
  /** Those of whoever wrote at this place before: two tabs may share it, and neither may lose its own. */
  readonly other?: Pick<MarkRow, "by" | "done"> | undefined;
}

/** More than can be under way at one time and still be asked about. */
const KEPT = 256;

/** Hands out the marks of one open database. */
export class CommitMarks {
  readonly #by = newId();
  #n = 0;

  next(): Mark {
    this.#n += 1;
    // One of some thousand places, so that those who write at one time do not write over each other's.
    return { key: `mark/${this.#by.slice(-3)}`, by: this.#by, n: this.#n };
  }
}

/** The last step of a transaction: when it is committed, this is. */
export async function putMark(table: Table<unknown, string>, { key, by, n }: Mark): Promise<void> {
  const row = (await table.get(key)) as MarkRow | undefined;
  const done = [...doneBy(row, by).slice(1 - KEPT), n];
  const other = row === undefined || row.by === by ? row?.other : { by: row.by, done: row.done };
  await table.put({ key, by, done, other } satisfies MarkRow);
}

/** Whether the transaction was committed, though nobody was told. */
export async function isMarked(table: Table<unknown, string>, { key, by, n }: Mark): Promise<boolean> {
  return doneBy((await table.get(key)) as MarkRow | undefined, by).includes(n);
}

function doneBy(row: MarkRow | undefined, by: string): readonly number[] {
  if (row?.by === by) return row.done;
  return row?.other?.by === by ? row.other.done : [];
}
