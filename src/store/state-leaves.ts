import { type JsonObject, type JsonValue, setKey } from "../model/json.ts";

/** A leaf of a state under its JSON Pointer: a scalar, an array, or an object without keys (rule P60). */
export interface Leaf {
  readonly at: string;
  readonly value: JsonValue;
}

/** The leaves of a value that stands at `at`. */
export function leavesOf(value: JsonValue | undefined, at: string): Leaf[] {
  if (value === undefined) return [];
  if (!isBranch(value)) return [{ at, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, pointerTo(at, key)));
}

/** The state that leaves make, given in the order of their pointers' code units: below wins over above (rule P61). */
export function stateOf(leaves: Iterable<Leaf>): JsonObject {
  const state: JsonObject = {};
  for (const { at, value } of leaves) {
    let parent = state;
    const names = namesOf(at);
    const last = names.pop() ?? "";
    for (const name of names) {
      const held = Object.hasOwn(parent, name) ? parent[name] : undefined;
      const next: JsonObject = isObject(held) ? held : {};
      if (next !== held) setKey(parent, name, next);
      parent = next;
    }
    setKey(parent, last, value);
  }
  return state;
}

/** The names on the way that a JSON Pointer describes. */
export function namesOf(at: string): string[] {
  return at
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The pointers of all that a pointer's place stands in, outermost first. */
export function pointersAbove(at: string): string[] {
  const above: string[] = [];
  for (let end = at.indexOf("/", 1); end > 0; end = at.indexOf("/", end + 1)) above.push(at.slice(0, end));
  return above;
}

/** Whether a text is a JSON Pointer to somewhere below the root, in the one form that each place has. */
export function isPointer(text: string): boolean {
  return text.startsWith("/") && !/~(?![01])/.test(text);
}

/** The pointer of what stands under a name in the object at `parent`. */
export function pointerTo(parent: string, name: string): string {
  return `${parent}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object with keys: what is in it are the leaves, where an empty one is a leaf itself. */
export function isBranch(value: JsonValue | undefined): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0;
}
