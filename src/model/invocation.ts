import type { ContentInput } from "./content.ts";
import { InvocationError } from "./errors.ts";
import {
  type FieldKey,
  type FieldMap,
  fieldName,
  fieldNameOf,
  isKnown,
  normalise,
  readDeadline,
  readPayload,
} from "./invocation-fields.ts";
import { isPlainObject, type JsonObject, setKey } from "./json.ts";
import type { Message, MessageInput } from "./message.ts";
import { copyOpen } from "./open-copy.ts";
import { serializeOpen } from "./serialize-open.ts";

/** Fields of no fixed shape. An explicit null in the payload stays null (I5). */
export type OpenFields = { [key: string]: unknown } | null;

/** The fields every invocation has, as properties to read and write (I11). */
export interface KnownFields {
  /** What to answer. Anything that can be read as a message may be written. */
  get message(): Message;
  set message(value: Message | MessageInput | Exclude<ContentInput, null | undefined>);
  /** What was said before; frozen. */
  get history(): readonly Message[];
  set history(value: readonly (Message | MessageInput)[] | null);
  settings: OpenFields;
  context: OpenFields;
  metadata: OpenFields;
  runId: string;
  invocationId: string;
  sessionId: string;
  /** Never inferred: undefined unless it was given. */
  actorId: string | null | undefined;
  /** When the run must be over. Text is parsed when this is read, and throws an {@link InvocationError} then. */
  get deadlineAt(): Date | null | undefined;
  set deadlineAt(value: Date | string | null | undefined);
}

/** What can be done with an invocation's fields by key. Keys are one namespace: see {@link Invocation}. */
export interface FieldAccess {
  /** The field, or undefined where it is missing. */
  get(key: FieldKey): unknown;
  /** Sets a field: as given, but for `message` and `history`, which are checked, copied and frozen. */
  set(key: FieldKey, value: unknown): this;
  /** Whether the field is there, be it null. */
  has(key: FieldKey): boolean;
  /** The field; where it is missing the fallback, called if it is a function. @throws InvocationError without one. */
  fetch(key: FieldKey, ...fallback: [] | [unknown]): unknown;
  /** What stands at the end of a path into a field; undefined as soon as a step is missing. */
  dig(key: FieldKey, ...path: FieldKey[]): unknown;
  /** All fields as a deep, mutable copy. A deadline that was not read yet stays as given. */
  toObject(): { [key: string]: unknown };
  /** All fields as JSON, for {@link InvocationConstructor.parse}.
   *  Dates become ISO text, and bytes `{data, encoding: "base64"}`; functions and instances of classes without a toJSON of
   *  their own are left out. @throws InvocationError naming what cannot be JSON: NaN, a bigint, an invalid date, a cycle. */
  toJSON(): JsonObject;
}

/**
 * What a run of an agent is given: a message, and an open environment around it. Unknown fields are kept, and are read
 * and written by key or as properties; name them through the type parameter. Text, numbers and registered symbols of the
 * same text are one key, and known fields are also reachable in snake_case (`actor_id`). A field with the name of a
 * method is reached by `get`.
 */
export type Invocation<Fields extends object = object> = KnownFields & Fields & FieldAccess;

/** Makes an {@link Invocation}, or reads one back. */
export interface InvocationConstructor {
  /** @throws InvocationError when the payload is no object, has no message, or holds a bad message. */
  new <Fields extends object = object>(payload?: object): Invocation<Fields>;
  /** Reads what `toJSON` wrote. @throws InvocationError as the constructor does. */
  parse<Fields extends object = object>(json: unknown): Invocation<Fields>;
  readonly prototype: FieldAccess;
}

interface Held {
  readonly fields: FieldMap;
  /** The deadline once it was read. */
  deadline?: Date | null | undefined;
}

// Not private members: methods are called on the proxy, which has none.
const heldBy = new WeakMap<object, Held>();

function heldOf(invocation: object): Held {
  const held = heldBy.get(invocation);
  if (held === undefined) throw new TypeError("This is not an invocation");
  return held;
}

export const Invocation = class Invocation implements FieldAccess {
  constructor(payload: object = {}) {
    const held: Held = { fields: readPayload(payload) };
    const open = new Proxy<this>(this, traps as ProxyHandler<this>);
    heldBy.set(this, held);
    heldBy.set(open, held);
    // biome-ignore lint/correctness/noConstructorReturn: unknown fields are properties too (I2), which takes a proxy
    return open;
  }

  static parse(json: unknown): unknown {
    return new Invocation(json as object);
  }

  get(key: FieldKey): unknown {
    return readField(heldOf(this), fieldName(key));
  }

  set(key: FieldKey, value: unknown): this {
    writeField(heldOf(this), fieldName(key), value);
    return this;
  }

  has(key: FieldKey): boolean {
    return heldOf(this).fields.has(fieldName(key));
  }

  fetch(key: FieldKey, ...fallback: [] | [unknown]): unknown {
    const name = fieldName(key);
    const held = heldOf(this);
    if (held.fields.has(name)) return readField(held, name);
    if (fallback.length === 0) throw new InvocationError(`Invocation has no field ${JSON.stringify(name)}`);
    const [instead] = fallback;
    return typeof instead === "function" ? instead() : instead;
  }

  dig(key: FieldKey, ...path: FieldKey[]): unknown {
    return path.reduce<unknown>(step, this.get(key));
  }

  toObject(): { [key: string]: unknown } {
    const { fields, deadline } = heldOf(this);
    const all = objectOf(fields);
    if (deadline !== undefined) all.deadlineAt = deadline;
    return copyOpen(all) as { [key: string]: unknown };
  }

  toJSON(): JsonObject {
    const json: JsonObject = {};
    for (const [name, value] of heldOf(this).fields) {
      const field = serializeOpen(value, name);
      if (field !== undefined) setKey(json, name, field);
    }
    return json;
  }
} as unknown as InvocationConstructor;

/** Names of methods, and of what every object has, keep their meaning as properties. */
const traps: ProxyHandler<object> = {
  get(target, key, receiver) {
    // A field named "then" must not make it a promise where it is awaited.
    const name = Reflect.has(target, key) || key === "then" ? undefined : fieldNameOf(key);
    return name === undefined ? Reflect.get(target, key, receiver) : readField(heldOf(target), name);
  },
  set(target, key, value) {
    writeField(heldOf(target), fieldName(key), value);
    return true;
  },
  has(target, key) {
    return Reflect.has(target, key) || hasField(target, key);
  },
  ownKeys(target) {
    return [...heldOf(target).fields.keys()];
  },
  getOwnPropertyDescriptor(target, key) {
    if (!hasField(target, key)) return undefined;
    // As given: listing the keys must not fail for a bad deadline. Reading the value goes through get.
    const value = heldOf(target).fields.get(fieldName(key));
    return { value, writable: true, enumerable: true, configurable: true };
  },
  defineProperty(target, key, property) {
    if (!("value" in property)) return false;
    writeField(heldOf(target), fieldName(key), property.value);
    return true;
  },
  deleteProperty(target, key) {
    const name = fieldNameOf(key);
    return name === undefined || (!isKnown(name) && (heldOf(target).fields.delete(name) || true));
  },
  preventExtensions() {
    return false;
  },
};

function hasField(target: object, key: FieldKey): boolean {
  const name = fieldNameOf(key);
  return name !== undefined && heldOf(target).fields.has(name);
}

function readField(held: Held, name: string): unknown {
  if (name !== "deadlineAt") return held.fields.get(name);
  held.deadline ??= readDeadline(held.fields.get(name));
  return held.deadline;
}

function writeField(held: Held, name: string, value: unknown): void {
  held.fields.set(name, normalise(name, value));
  if (name === "deadlineAt") delete held.deadline;
}

function objectOf(fields: FieldMap): { [key: string]: unknown } {
  const all: { [key: string]: unknown } = {};
  for (const [name, value] of fields) setKey(all, name, value);
  return all;
}

/** One step of a path: an own property, an entry of a map, or what an instance offers. */
function step(value: unknown, key: FieldKey): unknown {
  const name = fieldName(key);
  if (value instanceof Map) return value.has(key) ? value.get(key) : value.get(name);
  if (typeof value !== "object" || value === null) return undefined;
  const plain = Array.isArray(value) || isPlainObject(value);
  return plain && !Object.hasOwn(value, name) ? undefined : Reflect.get(value, name);
}
