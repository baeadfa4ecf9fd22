import type { JsonObject, JsonValue } from "./json.ts";

/** What is said. */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/** A picture. `data` gives a fresh copy of the bytes each time it is read, so that no reader can change the message. */
export interface ImageBlock {
  readonly type: "image";
  readonly data: Uint8Array;
  readonly mediaType: string;
  readonly name?: string | undefined;
}

/** A file. `data` gives a fresh copy of the bytes each time it is read. */
export interface DocumentBlock {
  readonly type: "document";
  readonly data: Uint8Array;
  readonly mediaType: string;
  readonly name: string;
}

/** A call of a tool. `id` pairs it with its {@link ToolResultBlock}; neither `id` nor `name` is empty. */
export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** What a tool answered to the call `toolUseId`. */
export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly content: ToolResultContent;
  readonly status: "success" | "error";
}

/**
 * JSON, or an array in which items of one of the six block types are blocks; everything else in it, whatever its own
 * `type`, stays JSON.
 */
export type ToolResultContent = JsonValue | readonly (Content | JsonValue)[];

/**
 * What a model thought. Never stored (S9). `redacted` excludes `text` and `signature`, and gives a fresh copy of the
 * bytes each time it is read.
 */
export interface ReasoningBlock {
  readonly type: "reasoning";
  readonly text?: string | undefined;
  readonly signature?: string | undefined;
  readonly redacted?: Uint8Array | undefined;
  readonly details?: readonly JsonObject[] | undefined;
}

/** One piece of a message. */
export type Content =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ToolUseBlock
  | ToolResultBlock
  | ReasoningBlock;

/** What may be given as content: text, one block, several of both, or nothing (M2). */
export type ContentInput = string | Content | readonly (string | Content)[] | null | undefined;

const TYPES: ReadonlySet<unknown> = new Set<Content["type"]>([
  "text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "reasoning",
]);

/** Whether a value says it is a block: an object whose `type` is one of the six. In a message that was made, it is one. */
export function isBlock(value: unknown): value is Content {
  return typeof value === "object" && value !== null && "type" in value && TYPES.has(value.type);
}

const bytesBehind = new WeakMap<Content, Uint8Array>();

/** Remembers the bytes that a block of ours hands out copies of. */
export function keepBytes<Block extends Content>(block: Block, bytes: Uint8Array): Block {
  bytesBehind.set(block, bytes);
  return block;
}

/** The bytes of a block, to read and never to change or hand out; undefined where it has none. */
export function bytesOf(block: Content): Uint8Array | undefined {
  const kept = bytesBehind.get(block);
  if (kept !== undefined) return kept;
  if (block.type === "image" || block.type === "document") return block.data;
  return block.type === "reasoning" ? block.redacted : undefined;
}
