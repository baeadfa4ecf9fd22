import { InvalidInputError, invalidInput } from "./errors.ts";

/** What can be stored: strings, finite numbers, booleans, null, arrays and plain objects of these (D1). */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A plain object of {@link JsonValue}s. Any key is data, `__proto__` included (D3). */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * The most levels that arrays and objects may be nested. Far above real data, and below what the recursive natives
 * data passes through (JSON.stringify, structured clone) were measured to survive: 1,900 levels in the worst engine.
 */
export const MAX_JSON_DEPTH = 500;

/** The most values one piece of JSON may hold, so that shared sub-objects cannot multiply without end when copied. */
export const MAX_JSON_VALUES = 4_000_000;

/**
 * Checks that a value is JSON and copies it deeply; nothing of the caller's is kept, changed or frozen. Properties that
 * are `undefined` are left out, and `-0` becomes `0`. No getter of the caller's runs.
 * @param path what to call the value in errors: `state` gives `state.plan.items[3].at`.
 * @param depth how deep inside a larger value this one stands, for the limit on nesting.
 * @throws InvalidInputError that names where the value is not JSON.
 */
export function copyJson(value: unknown, path: string, depth = 0): JsonValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  const walk: Walk = { root: path, keys: [], ancestors: [], depth, values: 0 };
  try {
    return copyAny(value, walk);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    // Only a proxy's trap, or a value at the very end of the stack, gets here.
    throw invalidInput(whereIs(walk), "could not be read", { cause: error });
  }
}

/** {@link copyJson} of what must be a plain object. */
export function copyJsonObject(value: unknown, path: string, depth = 0): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidInput(path, `must be an object of JSON values, not ${nameOf(value)}`);
  }
  return copyJson(value, path, depth) as JsonObject;
}

/** A mutable copy of what is known to be JSON: a message's, a parser's. It checks nothing; see {@link copyJson}. */
export function cloneJson<T extends JsonValue>(value: T): T {
  return cloneAny(value) as T;
}

/** Freezes JSON through and through, in place, and returns it. For values of one's own: a copy, or fresh from a parser. */
export function freezeJson<T extends JsonValue>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const inner of Object.values(next)) if (typeof inner === "object") open.push(inner);
  }
  return value;
}

/** Whether two pieces of JSON are the same data. The order of keys does not matter. */
export function jsonEquals(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  const open: [unknown, unknown][] = [[a, b]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (left === right) continue;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
      return false;
    if (Array.isArray(left) !== Array.isArray(right)) return false;
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false;
      const one = (left as JsonObject)[key];
      const other = (right as JsonObject)[key];
      if (one !== other) open.push([one, other]);
    }
  }
  return true;
}

/** Sets a key as data, also when it is `__proto__` (D3). */
export function setKey<T>(target: { [key: string]: T }, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** Whether a value is an object written with braces, or without a prototype, in this realm or another. */
export function isPlainObject(value: unknown): value is { [key: string]: unknown } {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

/** `path` with a property or an index behind it: `a.b`, `a[3]`, `a["not a name"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
    ? `${path}.${key}`
    : `${path}[${JSON.stringify(key)}]`;
}

/** What a value is, for an error message; never its content. */
export function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
  if (isPlainObject(value)) return "an object";
  const maker: unknown = Object.getOwnPropertyDescriptor(
    Object.getPrototypeOf(value) as object,
    "constructor",
  )?.value;
  return typeof maker === "function" && maker.name !== ""
    ? `an instance of ${maker.name}`
    : "an instance of a class";
}

function cloneAny(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneAny);
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setKey(copy, key, cloneAny(value[key] ?? null));
  return copy;
}

interface Walk {
  readonly root: string;
  /** The way from the root to the value at hand. */
  readonly keys: (string | number)[];
  /** The containers on that way. */
  readonly ancestors: object[];
  readonly depth: number;
  values: number;
}

function whereIs(walk: Walk): string {
  return walk.keys.reduce(joinPath, walk.root);
}

function copyAny(value: unknown, walk: Walk): JsonValue {
  walk.values += 1;
  if (walk.values > MAX_JSON_VALUES) {
    throw invalidInput(walk.root, `must not hold more than ${MAX_JSON_VALUES} values`);
  }
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw invalidInput(whereIs(walk), `must be a finite number, not ${value}`);
      return value === 0 ? 0 : value;
    case "object":
      return value === null ? null : copyContainer(value, walk);
    default:
      throw invalidInput(whereIs(walk), `must be JSON, not ${nameOf(value)}`);
  }
}

function copyContainer(value: object, walk: Walk): JsonValue {
  if (walk.ancestors.includes(value)) throw invalidInput(whereIs(walk), "must not contain itself");
  if (walk.depth + walk.ancestors.length >= MAX_JSON_DEPTH) {
    throw invalidInput(whereIs(walk), `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  walk.ancestors.push(value);
  const copy = Array.isArray(value) ? copyArray(value, walk) : copyObject(value, walk);
  walk.ancestors.pop();
  return copy;
}

function copyArray(value: unknown[], walk: Walk): JsonValue[] {
  // Another realm's Array.prototype is an array as well; the prototype of a subclass is not.
  if (!Array.isArray(Object.getPrototypeOf(value))) {
    throw invalidInput(whereIs(walk), `must be JSON, not ${nameOf(value)} subclass`);
  }
  refuseSymbols(value, walk);
  const keys = Object.keys(value);
  const copy: JsonValue[] = [];
  const length = value.length;
  for (let index = 0; index < length; index += 1) {
    walk.keys.push(index);
    const property = Object.getOwnPropertyDescriptor(value, index);
    if (property === undefined)
      throw invalidInput(whereIs(walk), "must not be missing (the array is sparse)");
    copy.push(copyAny(dataOf(property, walk), walk));
    walk.keys.pop();
  }
  const extra = keys[length];
  if (extra !== undefined) {
    walk.keys.push(extra);
    throw invalidInput(whereIs(walk), "must not be there: arrays hold elements and nothing else");
  }
  return copy;
}

function copyObject(value: object, walk: Walk): JsonObject {
  if (!isPlainObject(value)) throw invalidInput(whereIs(walk), `must be JSON, not ${nameOf(value)}`);
  refuseSymbols(value, walk);
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    walk.keys.push(key);
    const property = Object.getOwnPropertyDescriptor(value, key);
    const inner = property === undefined ? undefined : dataOf(property, walk);
    if (inner !== undefined) setKey(copy, key, copyAny(inner, walk));
    walk.keys.pop();
  }
  return copy;
}

function dataOf(property: PropertyDescriptor, walk: Walk): unknown {
  if (property.get !== undefined || property.set !== undefined) {
    throw invalidInput(whereIs(walk), "must be plain data, not a getter or setter");
  }
  return property.value;
}

function refuseSymbols(value: object, walk: Walk): void {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, symbol)) continue;
    throw invalidInput(`${whereIs(walk)}[${String(symbol)}]`, "must not be there: keys are text");
  }
}
