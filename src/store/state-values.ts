import * as Y from "yjs";
import { isPlainObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH, setKey } from "../model/json.ts";

/** JSON as a document holds it inside an array or as a leaf: a copy, so that nobody else holds what the document does. */
export function toStored(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  return fitsPlain(value, true) ? copyPlain(value) : toShared(value);
}

/** An array of the document's own, to be put into one. */
export function sharedArray(elements: unknown[]): Y.Array<unknown> {
  const array = new Y.Array<unknown>();
  array.push(elements);
  return array;
}

/**
 * What a document holds as JSON, copied. Undefined for what is none: other clients of the document may put anything
 * there. Inside arrays such a thing is null, so that the others keep their places.
 */
export function fromStored(value: unknown, depth = 0): JsonValue | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (depth >= MAX_JSON_DEPTH) return undefined;
  if (Array.isArray(value) || value instanceof Y.Array) {
    const elements: readonly unknown[] = value instanceof Y.Array ? value.toArray() : value;
    return elements.map((element) => fromStored(element, depth + 1) ?? null);
  }
  if (value instanceof Y.Map) return fromEntries(value.entries(), depth);
  return isPlainObject(value) ? fromEntries(Object.entries(value), depth) : undefined;
}

function fromEntries(entries: Iterable<[string, unknown]>, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const [key, inner] of entries) {
    const json = fromStored(inner, depth + 1);
    if (json !== undefined) setKey(object, key, json);
  }
  return object;
}

/**
 * Whether plain data survives in a document. Decoding sets the keys of plain objects by assignment, which loses
 * "__proto__"; and an object is taken for one by its property "constructor".
 */
function fitsPlain(value: JsonValue, outermost: boolean): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every((element) => fitsPlain(element, false));
  if (outermost && Object.hasOwn(value, "constructor")) return false;
  return !Object.hasOwn(value, "__proto__") && Object.values(value).every((inner) => fitsPlain(inner, false));
}

function copyPlain(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyPlain);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyPlain(inner)]));
}

/** Data that does not survive as plain: objects as maps and arrays as arrays of the document's own, all the way down. */
function toShared(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return sharedArray(value.map(toShared));
  return new Y.Map(Object.entries(value).map(([key, inner]): [string, unknown] => [key, toShared(inner)]));
}
