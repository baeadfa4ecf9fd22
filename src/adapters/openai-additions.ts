import { type JsonObject, type JsonValue, jsonEquals, setKey } from "../model/json.ts";

/**
 * What `original` has beyond `made`, so that {@link addTo} gives the original back; undefined when it is not `made` with
 * something added: a field of `made` is missing or another in it.
 */
export function additionsTo(made: JsonObject, original: JsonObject): JsonObject | undefined {
  const more: JsonObject = {};
  for (const [key, value] of Object.entries(made)) {
    if (!Object.hasOwn(original, key)) return undefined;
    const other = original[key];
    if (isObject(value) && isObject(other)) {
      const inner = additionsTo(value, other);
      if (inner === undefined) return undefined;
      if (Object.keys(inner).length > 0) setKey(more, key, inner);
    } else if (!jsonEquals(value, other)) {
      return undefined;
    }
  }
  for (const [key, value] of Object.entries(original))
    if (!Object.hasOwn(made, key)) setKey(more, key, value);
  return more;
}

/** `made` with `more` added, object by object. */
export function addTo(made: JsonObject, more: JsonObject): JsonObject {
  const result: JsonObject = { ...made };
  for (const [key, value] of Object.entries(more)) {
    const present = Object.hasOwn(result, key) ? result[key] : undefined;
    setKey(result, key, isObject(present) && isObject(value) ? addTo(present, value) : value);
  }
  return result;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
