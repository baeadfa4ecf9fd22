import { type JsonValue, jsonEquals } from "../model/json.ts";

/** From position `index` on, `removed` elements leave and `inserted` come in their place. */
export interface Splice {
  readonly index: number;
  readonly removed: number;
  readonly inserted: readonly JsonValue[];
}

/** The most edits that are searched for; arrays further apart are taken as replaced between their common ends. */
const MAX_EDITS = 1_000;

/**
 * The fewest elements to remove and insert so that one array becomes the other, as splices from the end backwards: each
 * index holds for the array as it was. Costs the length times the number of edits, and at most a thousand edits.
 */
export function diffArrays(before: readonly JsonValue[], after: readonly JsonValue[]): Splice[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && jsonEquals(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && jsonEquals(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const removed = before.slice(start, before.length - end);
  const inserted = after.slice(start, after.length - end);
  if (removed.length === 0 && inserted.length === 0) return [];
  const kept = removed.length === 0 || inserted.length === 0 ? [] : commonElements(removed, inserted);
  return splicesBetween(kept, removed.length, inserted).map((splice) => ({
    ...splice,
    index: splice.index + start,
  }));
}

/** Two positions that hold the same element: one in the array before, one in the array after. */
interface Pair {
  readonly before: number;
  readonly after: number;
}

function splicesBetween(kept: readonly Pair[], length: number, after: readonly JsonValue[]): Splice[] {
  const splices: Splice[] = [];
  let next: Pair = { before: length, after: after.length };
  for (const pair of [...kept].reverse().concat({ before: -1, after: -1 })) {
    const index = pair.before + 1;
    const inserted = after.slice(pair.after + 1, next.after);
    if (next.before > index || inserted.length > 0) {
      splices.push({ index, removed: next.before - index, inserted });
    }
    next = pair;
  }
  return splices;
}

/** A longest common subsequence, or none of it where that would take more than {@link MAX_EDITS} edits (E. Myers, 1986). */
function commonElements(before: readonly JsonValue[], after: readonly JsonValue[]): Pair[] {
  const [a, b] = numbered(before, after);
  const limit = Math.min(MAX_EDITS, a.length + b.length);
  /** For each number of edits, how far along `a` each diagonal was reached. Diagonal k stands at k + edits. */
  const reached: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    const row = new Int32Array(2 * edits + 1);
    reached.push(row);
    for (let k = -edits; k <= edits; k += 2) {
      let x = entry(reached[edits - 1], edits - 1, k);
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      row[k + edits] = x;
      if (k === a.length - b.length && x >= a.length) return walkBack(reached, a.length, b.length);
    }
  }
  return [];
}

/** Where diagonal `k` is entered by one more edit: from the one above by an insertion, or from the one below by a removal. */
function entry(row: Int32Array | undefined, edits: number, k: number): number {
  if (row === undefined) return 0;
  const inserted = k + 1 <= edits ? (row[k + 1 + edits] ?? -1) : -1;
  const removed = k - 1 >= -edits ? (row[k - 1 + edits] ?? -1) + 1 : -1;
  return Math.max(inserted, removed);
}

function walkBack(reached: readonly Int32Array[], lengthA: number, lengthB: number): Pair[] {
  const pairs: Pair[] = [];
  let x = lengthA;
  let k = lengthA - lengthB;
  for (let edits = reached.length - 1; edits >= 0; edits -= 1) {
    const row = reached[edits - 1];
    const from = entry(row, edits - 1, k);
    for (; x > from; x -= 1) pairs.push({ before: x - 1, after: x - 1 - k });
    const inserted = k + 1 <= edits - 1 ? (row?.[k + 1 + edits - 1] ?? -1) : -1;
    if (inserted === from) k += 1;
    else {
      k -= 1;
      x -= 1;
    }
  }
  return pairs.reverse();
}

/** The elements as numbers, equal ones as the same number. */
function numbered(...arrays: readonly (readonly JsonValue[])[]): [number[], number[]] {
  const numbers = new Map<string, number>();
  const [a = [], b = []] = arrays.map((array) =>
    array.map((value) => {
      const text = canonical(value);
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    }),
  );
  return [a, b];
}

function canonical(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`).join()}}`;
}
