import { decodeBase64 } from "./base64.ts";
import { type Content, isBlock, keepBytes, type ReasoningBlock, type ToolResultBlock } from "./content.ts";
import { invalidInput } from "./errors.ts";
import {
  copyJson,
  copyJsonObject,
  freezeJson,
  type JsonObject,
  type JsonValue,
  joinPath,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  nameOf,
} from "./json.ts";

/** `given`: by a caller, bytes as a Uint8Array or as base64. `stored`: the serialised form alone, bytes as base64 (M4). */
export type Form = "given" | "stored";

/**
 * Checks content and copies it into frozen blocks. In the form `given` it may be anything that M2 allows; in the form
 * `stored` it is an array of serialised blocks.
 * @throws InvalidInputError that names the block.
 */
export function readContent(value: unknown, path: string, form: Form): readonly Content[] {
  // A message and its array of content stand around each block.
  const reading: Reading = { form, depth: 2, budget: { blocks: MAX_JSON_VALUES } };
  if (Array.isArray(value)) {
    const blocks: Content[] = [];
    for (let index = 0; index < value.length; index += 1) {
      blocks.push(readPiece(value[index], `${path}[${index}]`, reading));
    }
    return Object.freeze(blocks);
  }
  if (form === "stored") throw invalidInput(path, `must be an array of blocks, not ${nameOf(value)}`);
  if (value === null || value === undefined) return NOTHING;
  return Object.freeze([readPiece(value, path, reading)]);
}

interface Reading {
  readonly form: Form;
  readonly depth: number;
  /** How many blocks may still follow, so that shared blocks cannot multiply without end. */
  readonly budget: { blocks: number };
}

type Fields = { readonly [key: string]: unknown };

const NOTHING: readonly Content[] = Object.freeze([]);
const EMPTY = new Uint8Array(0);

const FIELDS = {
  text: ["type", "text"],
  image: ["type", "data", "encoding", "mediaType", "name"],
  document: ["type", "data", "encoding", "mediaType", "name"],
  tool_use: ["type", "id", "name", "input"],
  tool_result: ["type", "toolUseId", "content", "status"],
  reasoning: ["type", "text", "signature", "redacted", "data", "encoding", "details"],
} as const satisfies Record<Content["type"], readonly string[]>;

function readPiece(value: unknown, path: string, reading: Reading): Content {
  if (typeof value === "string" && reading.form === "given")
    return Object.freeze({ type: "text", text: value });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidInput(path, `must be a content block, not ${nameOf(value)}`);
  }
  return readBlock(fieldsOf(value), path, reading);
}

function fieldsOf(value: object): Fields {
  return value as Fields;
}

function readBlock(block: Fields, path: string, reading: Reading): Content {
  if (reading.depth >= MAX_JSON_DEPTH) {
    throw invalidInput(path, `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  reading.budget.blocks -= 1;
  if (reading.budget.blocks < 0)
    throw invalidInput(path, `must not be one of more than ${MAX_JSON_VALUES} blocks`);
  const type = block.type as Content["type"];
  switch (type) {
    case "text":
      refuseOthers(block, type, path);
      return Object.freeze({ type, text: readText(block.text, `${path}.text`) });
    case "image":
    case "document":
      refuseOthers(block, type, path);
      return readFile(block, type, path, reading);
    case "tool_use":
      refuseOthers(block, type, path);
      return Object.freeze({
        type,
        id: readFilled(block.id, `${path}.id`),
        name: readFilled(block.name, `${path}.name`),
        input: freezeJson(copyJsonObject(block.input, `${path}.input`, reading.depth + 1)),
      });
    case "tool_result":
      refuseOthers(block, type, path);
      return readToolResult(block, path, reading);
    case "reasoning":
      refuseOthers(block, type, path);
      return readReasoning(block, path, reading);
    default:
      throw invalidInput(
        `${path}.type`,
        `must be one of ${Object.keys(FIELDS).join(", ")}, not ${shown(type)}`,
      );
  }
}

function readFile(block: Fields, type: "image" | "document", path: string, reading: Reading): Content {
  const bytes = readBytes(block.data, block.encoding, `${path}.data`, reading);
  const mediaType = readText(block.mediaType, `${path}.mediaType`);
  const name = block.name;
  if (type === "document") {
    const file = addGetter(
      { type, data: EMPTY, mediaType, name: readText(name, `${path}.name`) },
      "data",
      bytes,
    );
    return keepBytes(Object.freeze(file), bytes);
  }
  const named = name === undefined ? {} : { name: readText(name, `${path}.name`) };
  return keepBytes(
    Object.freeze(addGetter({ type, data: EMPTY, mediaType, ...named }, "data", bytes)),
    bytes,
  );
}

function readToolResult(block: Fields, path: string, reading: Reading): ToolResultBlock {
  const { toolUseId, content, status } = block;
  if (status !== "success" && status !== "error") {
    throw invalidInput(`${path}.status`, `must be "success" or "error", not ${shown(status)}`);
  }
  return Object.freeze({
    type: "tool_result",
    toolUseId: readText(toolUseId, `${path}.toolUseId`),
    content: readResult(content, `${path}.content`, { ...reading, depth: reading.depth + 1 }),
    status,
  });
}

function readResult(content: unknown, path: string, reading: Reading): ToolResultBlock["content"] {
  if (!Array.isArray(content) || !content.some(isBlock)) {
    return freezeJson(copyJson(content, path, reading.depth));
  }
  const inner: Reading = { ...reading, depth: reading.depth + 1 };
  const items: (Content | JsonValue)[] = [];
  for (let index = 0; index < content.length; index += 1) {
    const item: unknown = content[index];
    const itemPath = `${path}[${index}]`;
    items.push(
      isBlock(item)
        ? readBlock(fieldsOf(item), itemPath, inner)
        : freezeJson(copyJson(item, itemPath, inner.depth)),
    );
  }
  return Object.freeze(items);
}

function readReasoning(block: Fields, path: string, reading: Reading): ReasoningBlock {
  const { text, signature, details, encoding } = block;
  const redacted = reading.form === "given" && encoding === undefined ? block.redacted : block.data;
  const fields: { -readonly [Field in keyof ReasoningBlock]: ReasoningBlock[Field] } = { type: "reasoning" };
  if (text !== undefined) fields.text = readText(text, `${path}.text`);
  if (signature !== undefined) fields.signature = readText(signature, `${path}.signature`);
  let bytes: Uint8Array | undefined;
  if (redacted !== undefined) {
    if (text !== undefined || signature !== undefined) {
      throw invalidInput(`${path}.redacted`, "must not stand beside text or signature");
    }
    bytes = readBytes(redacted, encoding, `${path}.redacted`, reading);
    addGetter(fields, "redacted", bytes);
  } else if (block.redacted !== undefined || block.data !== undefined || encoding !== undefined) {
    throw invalidInput(`${path}.redacted`, "must be bytes, or base64 in data with its encoding");
  }
  if (details !== undefined) fields.details = readDetails(details, `${path}.details`, reading.depth + 1);
  const reasoning = Object.freeze(fields);
  return bytes === undefined ? reasoning : keepBytes(reasoning, bytes);
}

function readDetails(details: unknown, path: string, depth: number): readonly JsonObject[] {
  if (!Array.isArray(details))
    throw invalidInput(path, `must be an array of objects, not ${nameOf(details)}`);
  const copies: JsonObject[] = [];
  for (let index = 0; index < details.length; index += 1) {
    copies.push(freezeJson(copyJsonObject(details[index], `${path}[${index}]`, depth + 1)));
  }
  return Object.freeze(copies);
}

function readBytes(data: unknown, encoding: unknown, path: string, reading: Reading): Uint8Array {
  if (encoding === "base64" && typeof data === "string") {
    const bytes = decodeBase64(data);
    if (bytes === undefined) throw invalidInput(path, "must be strict base64");
    return bytes;
  }
  if (reading.form === "stored")
    throw invalidInput(path, 'must be base64 text, with encoding "base64" beside it');
  if (encoding !== undefined || !ArrayBuffer.isView(data) || tagOf(data) !== "[object Uint8Array]") {
    throw invalidInput(path, `must be a Uint8Array, not ${nameOf(data)}`);
  }
  // Not slice(): a subclass may share its memory there.
  return new Uint8Array(data as Uint8Array);
}

/** Also true of an array made in another frame or worker, which instanceof is not. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

/** Frozen bytes do not exist, so what is handed out is a copy each time. */
function addGetter<Block extends object>(block: Block, key: string, bytes: Uint8Array): Block {
  return Object.defineProperty(block, key, {
    enumerable: true,
    configurable: true,
    get: () => bytes.slice(),
  });
}

function readText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalidInput(path, `must be text, not ${nameOf(value)}`);
  return value;
}

function readFilled(value: unknown, path: string): string {
  const text = readText(value, path);
  if (text === "") throw invalidInput(path, "must not be empty");
  return text;
}

function refuseOthers(block: Fields, type: Content["type"], path: string): void {
  const known: readonly string[] = FIELDS[type];
  for (const key of Object.keys(block)) {
    if (known.includes(key) || block[key] === undefined) continue;
    throw invalidInput(joinPath(path, key), `is no field of a block of type ${type}`);
  }
}

/** A value that should have been one of a few words. */
function shown(value: unknown): string {
  return typeof value === "string" && value.length <= 40 ? JSON.stringify(value) : nameOf(value);
}
