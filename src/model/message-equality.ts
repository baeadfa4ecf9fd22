import { bytesOf, type Content, isBlock, type ToolResultContent } from "./content.ts";
import { type JsonValue, jsonEquals } from "./json.ts";
import type { Message } from "./message.ts";

/** Whether two messages serialise to the same value; the order of keys does not matter (M7). */
export function messageEquals(a: Message, b: Message): boolean {
  return a === b || (a.id === b.id && a.createdAt === b.createdAt && sameContent(a, b));
}

/** Whether two messages say the same: role, content and metadata, whatever their ids and times (M8). */
export function sameContent(a: Message, b: Message): boolean {
  return a.role === b.role && listEquals(a.content, b.content) && jsonEquals(a.metadata, b.metadata);
}

/** Whether `start` is what `log` begins with, message by message. Identical messages cost one comparison each. */
export function isPrefix(start: readonly Message[], log: readonly Message[]): boolean {
  if (start.length > log.length) return false;
  return start.every((message, index) => {
    const other = log[index];
    return other !== undefined && messageEquals(message, other);
  });
}

function listEquals(a: readonly (Content | JsonValue)[], b: readonly (Content | JsonValue)[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((item, index) => itemEquals(item, b[index]));
}

function itemEquals(a: Content | JsonValue | undefined, b: Content | JsonValue | undefined): boolean {
  if (a === b) return true;
  if (isBlock(a) && isBlock(b)) return blockEquals(a, b);
  return !isBlock(a) && !isBlock(b) && jsonEquals(a, b);
}

function blockEquals(a: Content, b: Content): boolean {
  switch (a.type) {
    case "text":
      return b.type === "text" && a.text === b.text;
    case "image":
    case "document":
      return b.type === a.type && a.mediaType === b.mediaType && a.name === b.name && sameBytes(a, b);
    case "tool_use":
      return b.type === "tool_use" && a.id === b.id && a.name === b.name && jsonEquals(a.input, b.input);
    case "tool_result":
      return (
        b.type === "tool_result" &&
        a.toolUseId === b.toolUseId &&
        a.status === b.status &&
        resultEquals(a.content, b.content)
      );
    case "reasoning":
      return (
        b.type === "reasoning" &&
        a.text === b.text &&
        a.signature === b.signature &&
        sameBytes(a, b) &&
        jsonEquals(a.details as JsonValue | undefined, b.details as JsonValue | undefined)
      );
  }
}

function resultEquals(a: ToolResultContent, b: ToolResultContent): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return listEquals(a, b);
  return !Array.isArray(a) && !Array.isArray(b) && jsonEquals(a as JsonValue, b as JsonValue);
}

function sameBytes(a: Content, b: Content): boolean {
  const left = bytesOf(a);
  const right = bytesOf(b);
  if (left === right) return true;
  if (left === undefined || right === undefined || left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}
