import * as Y from "yjs";
import { invalidInput } from "../model/errors.ts";
import { type JsonObject, type JsonValue, joinPath, jsonEquals, MAX_JSON_DEPTH } from "../model/json.ts";
import { diffArrays } from "./array-diff.ts";
import {
  isBranch,
  isPointer,
  type Leaf,
  leavesOf,
  namesOf,
  pointersAbove,
  pointerTo,
  stateOf,
} from "./state-leaves.ts";
import { fromStored, sharedArray, toStored } from "./state-values.ts";
import type { StateChange } from "./sync-rows.ts";

/** The name of the map that holds a session's state (rule P60). */
const STATE_MAP = "state";

/**
 * The state in a document, as a fresh copy. Never throws: other clients may have put anything there, and what is not
 * of the layout (P60) is not part of the state.
 */
export function readState(doc: Y.Doc): JsonObject {
  const leaves: Leaf[] = [];
  for (const [at, stored] of doc.getMap(STATE_MAP).entries()) {
    const value = isPlace(at) ? fromStored(stored, 1) : undefined;
    if (value !== undefined) leaves.push({ at, value });
  }
  leaves.sort((a, b) => (a.at < b.at ? -1 : 1));
  return stateOf(leaves);
}

/**
 * The fewest leaf changes that turn one state into the other (rule P62): removals first, then the rest. Parts that are
 * the same objects in both cost nothing.
 */
export function diffState(before: JsonObject, after: JsonObject): StateChange[] {
  const diff: Diff = { removed: [], changed: [] };
  compareObjects(before, after, "", diff);
  return [...diff.removed, ...diff.changed];
}

/**
 * Applies changes in their order, in one transaction, and gives the update that this made; undefined when there was
 * nothing to do, or when an outer transaction is still to make it. A splice of an array that is gone makes the array anew from what it inserts.
 * @throws InvalidInputError for text with half a surrogate pair, which the encoding would change; nothing is applied.
 */
export function applyChanges(
  doc: Y.Doc,
  changes: readonly StateChange[],
  origin?: unknown,
): Uint8Array | undefined {
  for (const change of changes) refuseLoneSurrogates(change);
  const map = doc.getMap(STATE_MAP);
  let made: Uint8Array | undefined;
  const keep = (update: Uint8Array): void => {
    made = update;
  };
  doc.on("update", keep);
  try {
    doc.transact(() => {
      for (const change of changes) applyChange(map, change);
    }, origin);
  } finally {
    doc.off("update", keep);
  }
  return made;
}

/** A new document that holds what the first one holds, and updates over it. The first stays as it is. */
export function forkWith(doc: Y.Doc, updates: Iterable<Uint8Array> = []): Y.Doc {
  const fork = new Y.Doc();
  Y.transact(fork, () => {
    Y.applyUpdate(fork, Y.encodeStateAsUpdate(doc));
    for (const update of updates) Y.applyUpdate(fork, update);
  });
  return fork;
}

/** What tells a document's writer from all others, drawn where ids are drawn: 32 random bits. */
export function clientNumber(id: string): number {
  return Number.parseInt(id.slice(-8), 16);
}

interface Diff {
  readonly removed: StateChange[];
  readonly changed: StateChange[];
}

function compareObjects(before: JsonObject, after: JsonObject, at: string, diff: Diff): void {
  for (const [key, value] of Object.entries(before)) {
    compare(value, Object.hasOwn(after, key) ? after[key] : undefined, pointerTo(at, key), diff);
  }
  for (const [key, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, key)) compare(undefined, value, pointerTo(at, key), diff);
  }
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  at: string,
  { removed, changed }: Diff,
): void {
  if (before === after) return;
  if (isBranch(before) && isBranch(after)) {
    compareObjects(before, after, at, { removed, changed });
    return;
  }
  const overwritten = after !== undefined && !isBranch(after);
  for (const leaf of leavesOf(before, at)) {
    if (leaf.at !== at || !overwritten) removed.push({ at: leaf.at, remove: true });
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const splice of diffArrays(before, after)) changed.push({ at, ...splice });
  } else if (!jsonEquals(before, after)) {
    for (const leaf of leavesOf(after, at)) changed.push({ at: leaf.at, set: leaf.value });
  }
}

function applyChange(map: Y.Map<unknown>, change: StateChange): void {
  for (const above of pointersAbove(change.at)) clear(map, above);
  if ("set" in change) map.set(change.at, stored(change.set));
  else if ("remove" in change) map.delete(change.at);
  else splice(map, change);
}

function splice(
  map: Y.Map<unknown>,
  change: Exclude<StateChange, { set: unknown } | { remove: true }>,
): void {
  const array = map.get(change.at);
  const inserted = change.inserted.map(toStored);
  if (!(array instanceof Y.Array)) {
    const held = Array.isArray(array) ? array : [];
    const elements = held.map((element: unknown) => toStored(fromStored(element) ?? null));
    elements.splice(change.index, change.removed, ...inserted);
    if (elements.length > 0 || Array.isArray(array)) map.set(change.at, sharedArray(elements));
    return;
  }
  const index = Math.min(change.index, array.length);
  const removed = Math.min(change.removed, array.length - index);
  if (removed > 0) array.delete(index, removed);
  if (inserted.length > 0) array.insert(index, inserted);
}

/**
 * Takes away a value above a leaf that is about to change. There it is hidden (P61), and would come to light when the
 * last leaf below it goes. Where it is an object with keys, which this layout never writes, its leaves stay.
 */
function clear(map: Y.Map<unknown>, at: string): void {
  if (!map.has(at)) return;
  const value = fromStored(map.get(at));
  map.delete(at);
  for (const leaf of leavesOf(value, at)) {
    const hidden = [leaf.at, ...pointersAbove(leaf.at)].some((place) => map.has(place));
    if (leaf.at !== at && !hidden) map.set(leaf.at, stored(leaf.value));
  }
}

function stored(leaf: JsonValue): unknown {
  return Array.isArray(leaf) ? sharedArray(leaf.map(toStored)) : toStored(leaf);
}

function isPlace(at: string): boolean {
  return isPointer(at) && at.split("/", MAX_JSON_DEPTH + 1).length <= MAX_JSON_DEPTH;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function refuseLoneSurrogates(change: StateChange): void {
  const value: JsonValue = "set" in change ? change.set : "inserted" in change ? [...change.inserted] : null;
  if (!LONE_SURROGATE.test(change.at) && !hasLoneSurrogate(value)) return;
  throw invalidInput(namesOf(change.at).reduce(joinPath, "state"), "must not hold half a surrogate pair");
}

function hasLoneSurrogate(value: JsonValue): boolean {
  if (typeof value === "string") return LONE_SURROGATE.test(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLoneSurrogate);
  return Object.entries(value).some(([key, inner]) => LONE_SURROGATE.test(key) || hasLoneSurrogate(inner));
}
