import { InvalidInputError, InvocationError } from "./errors.ts";
import { newId } from "./ids.ts";
import { isPlainObject, nameOf, setKey } from "./json.ts";
import { isMessage, type Message, readMessage } from "./message.ts";
import { copyOpen } from "./open-copy.ts";
import { parseTimestamp } from "./timestamp.ts";

/** What may name a field: text, a number or a registered symbol of the same text is the same name (I3). */
export type FieldKey = string | number | symbol;

/** The fields of an invocation by name. */
export type FieldMap = Map<string, unknown>;

const KNOWN_IN_SNAKE_CASE: ReadonlyMap<string, string> = new Map([
  ["run_id", "runId"],
  ["invocation_id", "invocationId"],
  ["session_id", "sessionId"],
  ["actor_id", "actorId"],
  ["deadline_at", "deadlineAt"],
]);

const KNOWN: ReadonlySet<string> = new Set([
  ...KNOWN_IN_SNAKE_CASE.values(),
  ...["message", "history", "settings", "context", "metadata"],
]);

/** Whether every invocation has this field, so that it can be set but not deleted. */
export function isKnown(name: string): boolean {
  return KNOWN.has(name);
}

/** The one name of a field, or undefined for a key that cannot be text. */
export function fieldNameOf(key: FieldKey): string | undefined {
  const text = typeof key === "symbol" ? Symbol.keyFor(key) : String(key);
  return text === undefined ? undefined : (KNOWN_IN_SNAKE_CASE.get(text) ?? text);
}

/** The one name of a field. @throws InvocationError for a key that cannot be text. */
export function fieldName(key: FieldKey): string {
  const name = fieldNameOf(key);
  if (name === undefined) throw new InvocationError(`Invocation key must be text: ${String(key)}`);
  return name;
}

/** The fields of a new invocation: the payload's, copied and normalised, and the defaults of those absent (I4 to I8). */
export function readPayload(payload: unknown): FieldMap {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    throw new InvocationError("Invocation payload must be an object");
  }
  const given = copyOpen(namedFields(payload), isMessage) as { [name: string]: unknown };
  const fields: FieldMap = new Map(Object.entries(given));
  fields.set("message", normalise("message", fields.get("message")));
  fields.set("history", normalise("history", fields.get("history")));
  for (const name of ["settings", "context", "metadata"]) if (!fields.has(name)) fields.set(name, {});
  if (isBlank(fields.get("runId"))) fields.set("runId", newId());
  for (const name of ["invocationId", "sessionId"]) {
    if (isBlank(fields.get(name))) fields.set(name, fields.get("runId"));
  }
  return fields;
}

/** A field as it is kept: a message and a history are checked and frozen, everything else is kept as it is. */
export function normalise(name: string, value: unknown): unknown {
  if (name === "message") return readMessageField(value);
  return name === "history" ? readHistory(value) : value;
}

/** A deadline as given, as a time; null and undefined stay (I10). @throws InvocationError when it is no time. */
export function readDeadline(given: unknown): Date | null | undefined {
  if (given === null || given === undefined) return given;
  if (typeof given === "string") given = parseTimestamp(given);
  if (given instanceof Date && !Number.isNaN(given.getTime())) return given;
  throw new InvocationError("deadline_at must be a valid time");
}

/** Empty as a payload means it: null, undefined, "", [] or {}. White space is not blank (I6). */
function isBlank(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlainObject(value) && Reflect.ownKeys(value).length === 0;
}

/** The enumerable fields of a payload under their names; those that are undefined count as absent. */
function namedFields(payload: object): { [name: string]: unknown } {
  const named: { [name: string]: unknown } = {};
  try {
    for (const key of Reflect.ownKeys(payload)) {
      if (!Object.prototype.propertyIsEnumerable.call(payload, key)) continue;
      const name = fieldName(key);
      const value: unknown = Reflect.get(payload, key);
      if (value !== undefined) setKey(named, name, value);
    }
  } catch (error) {
    if (error instanceof InvocationError) throw error;
    throw new InvocationError("Invocation payload could not be read", { cause: error });
  }
  return named;
}

function readMessageField(value: unknown): Message {
  if (isBlank(value)) throw new InvocationError("Invocation message is required");
  const isFields = typeof value === "object" && !Array.isArray(value);
  return translated(() =>
    readMessage(isFields ? value : { role: "user", content: value }, "message", "given"),
  );
}

function readHistory(value: unknown): readonly Message[] {
  if (value === null || value === undefined) return Object.freeze([]);
  if (!Array.isArray(value))
    throw new InvocationError(`Invocation history must be an array, not ${nameOf(value)}`);
  // Array.from also visits the holes of a sparse array.
  return translated(() =>
    Object.freeze(
      Array.from(value, (entry: unknown, index) => readMessage(entry, `history[${index}]`, "given")),
    ),
  );
}

function translated<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvocationError(`Invocation ${error.message}`, { cause: error });
  }
}
