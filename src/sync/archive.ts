import { InvalidInputError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { type Message, parseMessage, serializeMessage } from "../model/message.ts";
import type { Snapshot } from "../model/snapshot.ts";
import type { Catalog } from "./catalog.ts";

/** What an archive needs of a session. */
export interface ArchivedSession {
  load(): Promise<Snapshot | undefined>;
  append(write: {
    readonly messages: readonly Message[];
    readonly state?: JsonObject;
    readonly metadata?: JsonObject;
  }): Promise<unknown>;
  close(): Promise<void>;
}

const FORMAT = "holdfast-export";
const VERSION = 1;

/** All conversations as a file: a first line that says what it is, then one JSON line a conversation. */
export async function writeArchive(catalog: Catalog, open: (id: string) => ArchivedSession): Promise<Blob> {
  const lines = [JSON.stringify({ format: FORMAT, version: VERSION })];
  for (let before: string | undefined, more = true; more; ) {
    const page = await catalog.list({ limit: 200, ...(before === undefined ? {} : { before }) });
    for (const { id } of page.entries) {
      const session = open(id);
      const snapshot = await session.load();
      await session.close();
      if (snapshot === undefined) continue;
      const { messages, state, metadata } = snapshot;
      lines.push(JSON.stringify({ id, metadata, state, messages: messages.map(serializeMessage) }));
    }
    before = page.next;
    more = before !== undefined;
  }
  return new Blob([lines.join("\n"), "\n"], { type: "application/x-ndjson" });
}

/**
 * Adds what the file has and this device has not, by message id; nothing here is replaced or removed.
 * @throws InvalidInputError naming the line; conversations before it have been added.
 */
export async function readArchive(
  file: Blob,
  open: (id: string, metadata: JsonObject) => ArchivedSession,
): Promise<void> {
  if (!(file instanceof Blob)) throw new InvalidInputError("file must be a Blob", { path: "file" });
  const [first, ...lines] = (await file.text()).split("\n").filter((line) => line.trim() !== "");
  const head = parseLine(first ?? "", 1);
  if (head.format !== FORMAT || head.version !== VERSION)
    throw bad(1, `is not the beginning of a ${FORMAT} file of version ${VERSION}`);
  for (const [index, line] of lines.entries()) {
    const { id, metadata, state, messages } = parseLine(line, index + 2);
    if (typeof id !== "string" || !Array.isArray(messages)) throw bad(index + 2, "is not a conversation");
    try {
      const session = open(id, isObject(metadata) ? metadata : {});
      await add(session, messages, isObject(state) ? state : {}).finally(() => session.close());
    } catch (cause) {
      if (!(cause instanceof InvalidInputError)) throw cause;
      throw bad(index + 2, `cannot be read: ${cause.message}`, cause);
    }
  }
}

async function add(
  session: ArchivedSession,
  messages: JsonObject[string][],
  state: JsonObject,
): Promise<void> {
  const snapshot = await session.load();
  const known = new Set(snapshot?.messages.map((message) => message.id));
  const missing = messages.map(parseMessage).filter((message) => !known.has(message.id));
  const fresh = snapshot === undefined;
  if (fresh || missing.length > 0) await session.append({ messages: missing, ...(fresh ? { state } : {}) });
}

function parseLine(line: string, number: number): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new InvalidInputError(`Line ${number} of the file is not JSON`, { path: `file[${number}]`, cause });
  }
  throw bad(number, "is not an object");
}

function bad(line: number, problem: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`Line ${line} of the file ${problem}`, { path: `file[${line}]`, cause });
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
