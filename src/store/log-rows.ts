import type { JsonObject } from "../model/json.ts";
import type { Reader, Writer } from "./database.ts";
import type { RunRow } from "./sync-rows.ts";

/** What a database must have to hold logs: the table `runs`, keyed by session, generation and start. */
export interface LogTables {
  runs: RunRow;
}

/** Messages of one generation from position `from` (inclusive) to `to` (exclusive). */
export interface Slice {
  readonly generation: number;
  readonly from: number;
  readonly to: number;
}

/** Positions that are multiples of this are borders: no row holds messages from both sides of one. */
const SEALED = 100;

/**
 * Adds messages behind the `count` that a generation holds. The live tail stands in rows as they were added; the
 * append that reaches a border seals the last hundred into one row. What it costs does not depend on `count`.
 */
export async function appendMessages(
  tx: Writer<LogTables>,
  session: string,
  { generation, count }: { readonly generation: number; readonly count: number },
  messages: readonly JsonObject[],
): Promise<void> {
  const end = count + messages.length;
  for (let start = count; start < end; ) {
    const border = Math.min(end, nextBorder(start));
    const row = { session, generation, start, messages: messages.slice(start - count, border - count) };
    const sealed = border % SEALED === 0 && start % SEALED !== 0 ? await seal(tx, row) : row;
    await tx.put("runs", sealed);
    start = border;
  }
}

/**
 * The messages of a slice, one element a position: undefined where the row is missing or half-written (T7), and for
 * positions behind the end.
 */
export async function readMessages(
  tx: Reader<LogTables>,
  session: string,
  { generation, from, to }: Slice,
): Promise<(JsonObject | undefined)[]> {
  if (to <= from) return [];
  const prefix = [session, generation];
  const rows = await tx.list("runs", { prefix, from: [from], to: [to] });
  const first = rows[0];
  if ((first === undefined || first.start > from) && from % SEALED !== 0) {
    rows.unshift(...(await tx.list("runs", { prefix, to: [from], reverse: true, limit: 1 })));
  }
  const found = new Array<JsonObject | undefined>(to - from).fill(undefined);
  for (const row of rows) {
    if (!isWhole(row)) continue;
    for (let at = Math.max(0, from - row.start); at < row.messages.length; at += 1) {
      const message = row.messages[at];
      const place = row.start + at - from;
      if (place < found.length && isObject(message)) found[place] ??= message;
    }
  }
  return found;
}

/** Cuts a generation's log to its first `count` messages. */
export async function truncateLog(
  tx: Writer<LogTables>,
  session: string,
  { generation, count }: { readonly generation: number; readonly count: number },
): Promise<void> {
  const prefix = [session, generation];
  await tx.deleteRange("runs", { prefix, from: [count] });
  const [last] = await tx.list("runs", { prefix, reverse: true, limit: 1 });
  if (last === undefined || !isWhole(last) || last.start + last.messages.length <= count) return;
  await tx.put("runs", { ...last, messages: last.messages.slice(0, count - last.start) });
}

/** Copies the first `count` messages of one generation to the beginning of another that holds nothing yet. */
export async function copyPrefix(
  tx: Writer<LogTables>,
  session: string,
  { from, to, count }: { readonly from: number; readonly to: number; readonly count: number },
): Promise<void> {
  for (const row of await tx.list("runs", { prefix: [session, from], to: [count] })) {
    const fits = !isWhole(row) || row.start + row.messages.length <= count;
    const messages = fits ? row.messages : row.messages.slice(0, count - row.start);
    await tx.put("runs", { ...row, generation: to, messages });
  }
}

/** One row for all between the last border and the end of `last`; `last` alone where the rows before it have gaps. */
async function seal(tx: Writer<LogTables>, last: RunRow): Promise<RunRow> {
  const start = last.start - (last.start % SEALED);
  const range = { prefix: [last.session, last.generation], from: [start], to: [last.start] };
  const messages: JsonObject[] = [];
  for (const row of await tx.list("runs", range)) {
    if (!isWhole(row) || row.start !== start + messages.length) return last;
    messages.push(...row.messages);
  }
  if (start + messages.length !== last.start) return last;
  await tx.deleteRange("runs", range);
  return { ...last, start, messages: [...messages, ...last.messages] };
}

function nextBorder(position: number): number {
  return position - (position % SEALED) + SEALED;
}

/** Whether a row says which messages it holds. What does not is left as it lies, so that its bytes are kept. */
function isWhole(row: RunRow): boolean {
  return Array.isArray(row.messages) && row.messages.length <= SEALED - (row.start % SEALED);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
