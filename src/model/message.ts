import type { Content, ContentInput } from "./content.ts";
import { InvalidInputError, invalidInput } from "./errors.ts";
import { checkId, newId, newTimestamp } from "./ids.ts";
import {
  cloneJson,
  copyJsonObject,
  freezeJson,
  isPlainObject,
  type JsonObject,
  joinPath,
  nameOf,
} from "./json.ts";
import { type Form, readContent } from "./read-content.ts";
import { serializeContent } from "./serialize-content.ts";
import { isTimestamp } from "./timestamp.ts";

/** Who speaks (M1). */
export type Role = "system" | "developer" | "user" | "assistant" | "tool";

/** One message of a conversation. It and everything in it is frozen. */
export interface Message {
  /** Made once, kept for ever, never used twice in a session (M8, M9). */
  readonly id: string;
  readonly role: Role;
  readonly content: readonly Content[];
  readonly metadata: JsonObject;
  /** When it was made, as `2026-01-31T09:30:00.000Z`. For display: the order is the log's. */
  readonly createdAt: string;
}

/** What a message is made of. Without `id` and `createdAt` it gets fresh ones. */
export interface MessageInput {
  readonly role: Role;
  readonly content?: ContentInput;
  readonly metadata?: Readonly<JsonObject> | undefined;
  readonly id?: string | undefined;
  readonly createdAt?: string | undefined;
}

/**
 * Makes a message: checks what is given, copies it and freezes the copy. A message made before is returned as it is.
 * @throws InvalidInputError that names what is wrong, as in `message.content[0].text`.
 */
export function createMessage(input: MessageInput | Message): Message {
  return readMessage(input, "message", "given");
}

/** A message as JSON: a fresh, mutable copy, bytes as base64 (M4). It is what is stored and sent.
 *  @throws InvalidInputError for what is no message. */
export function serializeMessage(message: Message): JsonObject {
  const { id, role, content, metadata, createdAt } = checkMessage(message, "message");
  return { id, role, content: serializeContent(content), metadata: cloneJson(metadata), createdAt };
}

/**
 * Reads what {@link serializeMessage} wrote, and gives an equal message.
 * @throws InvalidInputError that names the block or field at fault.
 */
export function parseMessage(json: unknown): Message {
  return readMessage(json, "message", "stored");
}

/** The text of a message: its text blocks, with nothing between; no reasoning and nothing of tools (M5).
 *  @throws InvalidInputError for what is no message. */
export function textOf(message: Message): string {
  let text = "";
  for (const block of checkMessage(message, "message").content) if (block.type === "text") text += block.text;
  return text;
}

/** Whether a value is a message that this module made and checked. A copy of one is not. */
export function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && made.has(value);
}

/** The message itself when it was made here; otherwise what it says is read and checked, as `createMessage` does. */
export function checkMessage(value: Message | MessageInput, path: string): Message {
  return isMessage(value) ? value : readMessage(value, path, "given");
}

/**
 * The same message with other content or metadata. Both must be frozen and of checked parts: this checks nothing.
 */
export function rebuildMessage(
  message: Message,
  parts: { readonly content?: readonly Content[]; readonly metadata?: JsonObject },
): Message {
  return seal({ ...message, ...parts });
}

/** {@link createMessage} and {@link parseMessage} by another name in errors: `path` is what the message is called there. */
export function readMessage(value: unknown, path: string, form: Form): Message {
  if (typeof value === "object" && value !== null && form === "given" && made.has(value))
    return value as Message;
  try {
    return readFields(value, path, form);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    // A getter of the caller's threw, or a proxy's trap.
    throw invalidInput(path, "could not be read", { cause: error });
  }
}

const made = new WeakSet<object>();
const ROLES: readonly unknown[] = ["system", "developer", "user", "assistant", "tool"] satisfies Role[];
const FIELDS: readonly string[] = [
  "id",
  "role",
  "content",
  "metadata",
  "createdAt",
] satisfies (keyof Message)[];
const NO_METADATA: JsonObject = Object.freeze({});

function readFields(value: unknown, path: string, form: Form): Message {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidInput(path, `must be a message, not ${nameOf(value)}`);
  }
  const fields = value as { readonly [Field in keyof Message]?: unknown };
  for (const key of Object.keys(fields)) {
    if (FIELDS.includes(key) || (fields as { [key: string]: unknown })[key] === undefined) continue;
    throw invalidInput(joinPath(path, key), "is no field of a message");
  }
  const { id, role, metadata, createdAt } = fields;
  if (!ROLES.includes(role)) throw invalidInput(`${path}.role`, `must be one of ${ROLES.join(", ")}`);
  return seal({
    id: id === undefined && form === "given" ? newId() : checkId(id, `${path}.id`),
    role: role as Role,
    content: readContent(fields.content, `${path}.content`, form),
    metadata: readMetadata(metadata, `${path}.metadata`),
    createdAt:
      createdAt === undefined && form === "given"
        ? newTimestamp()
        : readTimestamp(createdAt, `${path}.createdAt`),
  });
}

function seal(message: Message): Message {
  made.add(Object.freeze(message));
  return message;
}

function readMetadata(metadata: unknown, path: string): JsonObject {
  if (metadata === undefined || (isPlainObject(metadata) && Reflect.ownKeys(metadata).length === 0))
    return NO_METADATA;
  // Inside a message: one level down.
  return freezeJson(copyJsonObject(metadata, path, 1));
}

function readTimestamp(value: unknown, path: string): string {
  if (typeof value === "string" && isTimestamp(value)) return value;
  throw invalidInput(path, "must be a time, as 2026-01-31T09:30:00.000Z");
}
