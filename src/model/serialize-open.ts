import { encodeBase64 } from "./base64.ts";
import { InvocationError } from "./errors.ts";
import {
  isPlainObject,
  type JsonObject,
  type JsonValue,
  joinPath,
  MAX_JSON_DEPTH,
  nameOf,
  setKey,
} from "./json.ts";
import { isMessage, serializeMessage } from "./message.ts";
import { isBytes } from "./open-copy.ts";

/**
 * What an invocation carries, as JSON: messages serialised, dates as ISO text, bytes as `{data, encoding: "base64"}`.
 * What lives in this process alone (functions, symbols, instances without toJSON) is left out, and null inside arrays.
 * @throws InvocationError naming the path, where leaving out would change data: NaN, bigint, an invalid date, a cycle.
 */
export function serializeOpen(value: unknown, path: string): JsonValue | undefined {
  return serialize(value, path, []);
}

function serialize(value: unknown, path: string, ancestors: object[]): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw unserializable(path, value);
      return value === 0 ? 0 : value;
    case "bigint":
      throw unserializable(path, value);
    case "object":
      return value === null ? null : serializeObject(value, path, ancestors);
    default:
      return undefined;
  }
}

function serializeObject(value: object, path: string, ancestors: object[]): JsonValue | undefined {
  if (isMessage(value)) return serializeMessage(value);
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new InvocationError(`${path} must be a valid time`);
    return value.toISOString();
  }
  if (isBytes(value)) return { data: encodeBase64(viewOf(value)), encoding: "base64" };
  if (ancestors.includes(value)) throw new InvocationError(`${path} must not contain itself`);
  if (ancestors.length >= MAX_JSON_DEPTH) {
    throw new InvocationError(`${path} must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  const inner = [...ancestors, value];
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => serialize(item, joinPath(path, index), inner) ?? null);
  }
  if (isPlainObject(value)) {
    const fields: JsonObject = {};
    for (const key of Object.keys(value)) {
      const field = serialize(value[key], joinPath(path, key), inner);
      if (field !== undefined) setKey(fields, key, field);
    }
    return fields;
  }
  const toJSON: unknown = Reflect.get(value, "toJSON");
  return typeof toJSON === "function"
    ? serialize(Reflect.apply(toJSON, value, [""]), path, inner)
    : undefined;
}

function viewOf(bytes: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}

function unserializable(path: string, value: unknown): InvocationError {
  return new InvocationError(`${path} cannot be serialised: it is ${nameOf(value)}`);
}
