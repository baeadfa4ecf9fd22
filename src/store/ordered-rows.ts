import { StorageError } from "../model/errors.ts";
import type { Key, Range, TableSpec } from "./database.ts";

/** A row under its key; in an index under the index's key with the table's behind it. */
export interface Entry {
  readonly key: Key;
  readonly row: object;
}

/** Orders keys part by part, numbers before strings, a shorter key before those it begins. */
export function compareKeys(a: Key, b: Key): number {
  const shared = Math.min(a.length, b.length);
  return compareParts(a, b, shared) || a.length - b.length;
}

function compareParts(a: Key, b: Key, parts: number): number {
  for (let at = 0; at < parts; at += 1) {
    const left = a[at];
    const right = b[at];
    if (left === right || left === undefined || right === undefined) continue;
    if (typeof left !== typeof right) return typeof left === "number" ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}

/** The position of the first entry for which `isBefore` no longer holds. */
function search(entries: readonly Entry[], isBefore: (key: Key) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && isBefore(entry.key)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position of the first entry whose key is not below `key`. */
export function positionOf(entries: readonly Entry[], key: Key): number {
  const last = entries.at(-1);
  if (last === undefined || compareKeys(last.key, key) < 0) return entries.length;
  return search(entries, (other) => compareKeys(other, key) < 0);
}

export function rowAt(entries: readonly Entry[], key: Key): object | undefined {
  const entry = entries[positionOf(entries, key)];
  return entry !== undefined && compareKeys(entry.key, key) === 0 ? entry.row : undefined;
}

/** The positions that a range covers: `start` inclusive, `end` exclusive. */
export function span(entries: readonly Entry[], range: Range): { start: number; end: number } {
  const prefix = range.prefix ?? [];
  const start = positionOf(entries, [...prefix, ...(range.from ?? [])]);
  const end =
    range.to === undefined
      ? search(entries, (key) => compareParts(key, prefix, prefix.length) <= 0)
      : positionOf(entries, [...prefix, ...range.to]);
  return { start, end: Math.max(start, end) };
}

/** The key that `parts` of a row make. @throws StorageError when a part is neither text nor a number. */
export function keyOf(row: object, parts: readonly string[]): Key {
  return parts.map((part) => {
    const value = (row as Readonly<Record<string, unknown>>)[part];
    if (typeof value === "string" || (typeof value === "number" && !Number.isNaN(value))) return value;
    throw new StorageError(`A row's key part "${part}" is neither text nor a number`, { reason: "failed" });
  });
}

/** A row's key in an index; undefined when it lacks one of its parts, and then is not in the index. */
export function indexKeyOf(row: object, spec: TableSpec, index: readonly string[]): Key | undefined {
  const values = row as Readonly<Record<string, unknown>>;
  const known = index.every((part) => typeof values[part] === "string" || typeof values[part] === "number");
  return known ? keyOf(row, [...index, ...spec.key]) : undefined;
}

/** One change of an ordered list: a row set under its key, or (undefined) taken away. */
export interface Edit {
  readonly key: Key;
  readonly row: object | undefined;
}

/** Below this many edits each finds its own place; above it, one pass merges all. */
const FEW_EDITS = 16;

/** Applies edits, sorted by key and one a key, to entries in place. */
export function applyEdits(entries: Entry[], edits: readonly Edit[]): void {
  if (edits.length <= FEW_EDITS) {
    for (const edit of edits) applyEdit(entries, edit);
    return;
  }
  const merged: Entry[] = [];
  let at = 0;
  for (const { key, row } of edits) {
    const end = positionOf(entries, key);
    while (at < end) {
      const entry = entries[at];
      if (entry !== undefined) merged.push(entry);
      at += 1;
    }
    const replaced = entries[at];
    if (replaced !== undefined && compareKeys(replaced.key, key) === 0) at += 1;
    if (row !== undefined) merged.push({ key, row });
  }
  for (; at < entries.length; at += 1) {
    const entry = entries[at];
    if (entry !== undefined) merged.push(entry);
  }
  entries.length = 0;
  for (const entry of merged) entries.push(entry);
}

function applyEdit(entries: Entry[], { key, row }: Edit): void {
  const at = positionOf(entries, key);
  const there = entries[at];
  const replaced = there !== undefined && compareKeys(there.key, key) === 0 ? 1 : 0;
  if (row === undefined) entries.splice(at, replaced);
  else if (at === entries.length) entries.push({ key, row });
  else entries.splice(at, replaced, { key, row });
}
