import { type JsonObject, type JsonValue, jsonEquals } from "../model/json.ts";
import type { MetadataChange } from "./shapes.ts";

/** Applies leaf changes in order (rule P27). Copies only the objects on the way; keys are data, `__proto__` too. */
export function applyMetadata(metadata: JsonObject, changes: readonly MetadataChange[]): JsonObject {
  let root = metadata;
  for (const change of changes) {
    const path = pathOf(change.at);
    root = path.length === 0 ? replaced(change.value) : changed(root, path, 0, change.value);
  }
  return root;
}

/** The fewest leaf changes that turn one metadata object into the other. Arrays are leaves. */
export function diffMetadata(before: JsonObject, after: JsonObject): MetadataChange[] {
  const changes: MetadataChange[] = [];
  compare(before, after, "", changes);
  return changes;
}

function compare(before: JsonObject, after: JsonObject, at: string, changes: MetadataChange[]): void {
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) changes.push({ at: pointer(at, key) });
  for (const [key, value] of Object.entries(after)) {
    const held = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isObject(held) && isObject(value) && Object.keys(value).length > 0)
      compare(held, value, pointer(at, key), changes);
    else if (held === undefined || !jsonEquals(held, value)) changes.push({ at: pointer(at, key), value });
  }
}

function changed(
  parent: JsonObject,
  path: readonly string[],
  depth: number,
  value: JsonValue | undefined,
): JsonObject {
  const key = path[depth] ?? "";
  const held = Object.hasOwn(parent, key) ? parent[key] : undefined;
  if (depth < path.length - 1) {
    if (value === undefined && !isObject(held)) return parent;
    return withKey(parent, key, changed(isObject(held) ? held : {}, path, depth + 1, value));
  }
  if (value !== undefined) return withKey(parent, key, value);
  return Object.fromEntries(Object.entries(parent).filter(([name]) => name !== key));
}

// Object.fromEntries defines own properties, so a key named "__proto__" stays data.
function withKey(parent: JsonObject, key: string, value: JsonValue): JsonObject {
  const entries = Object.entries(parent);
  const place = entries.findIndex(([name]) => name === key);
  if (place >= 0) entries[place] = [key, value];
  else entries.push([key, value]);
  return Object.fromEntries(entries);
}

function replaced(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pointer(parent: string, key: string): string {
  return `${parent}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function pathOf(at: string): readonly string[] {
  if (at === "") return [];
  return at
    .slice(at.startsWith("/") ? 1 : 0)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
