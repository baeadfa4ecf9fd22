import { encodeBase64 } from "./base64.ts";
import { bytesOf, type Content, isBlock, type ReasoningBlock, type ToolResultContent } from "./content.ts";
import { cloneJson, type JsonObject, type JsonValue } from "./json.ts";

/** Content as JSON: a fresh, mutable copy in which bytes are base64 and unset fields are absent (M4). */
export function serializeContent(content: readonly Content[]): JsonObject[] {
  return content.map(serializeBlock);
}

function serializeBlock(block: Content): JsonObject {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "document":
      return {
        type: block.type,
        ...serializeBytes(block),
        mediaType: block.mediaType,
        ...(block.name === undefined ? {} : { name: block.name }),
      };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: cloneJson(block.input) };
    case "tool_result":
      return {
        type: "tool_result",
        toolUseId: block.toolUseId,
        content: serializeResult(block.content),
        status: block.status,
      };
    case "reasoning":
      return serializeReasoning(block);
  }
}

function serializeResult(content: ToolResultContent): JsonValue {
  if (!Array.isArray(content)) return cloneJson(content as JsonValue);
  return content.map((item: Content | JsonValue) => (isBlock(item) ? serializeBlock(item) : cloneJson(item)));
}

function serializeReasoning(block: ReasoningBlock): JsonObject {
  return {
    type: "reasoning",
    ...(block.text === undefined ? {} : { text: block.text }),
    ...(block.signature === undefined ? {} : { signature: block.signature }),
    ...serializeBytes(block),
    ...(block.details === undefined ? {} : { details: block.details.map((detail) => cloneJson(detail)) }),
  };
}

function serializeBytes(block: Content): JsonObject {
  const bytes = bytesOf(block);
  return bytes === undefined ? {} : { data: encodeBase64(bytes), encoding: "base64" };
}
