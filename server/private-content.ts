import type { WireMessage } from "../src/wire/shapes.ts";

/**
 * Whether a message is one that must never reach a relay (H7): it holds reasoning, also inside tool results, or is
 * transient. System messages do not even fit the protocol.
 */
export function holdsPrivate(message: WireMessage): boolean {
  const { metadata } = message;
  if (isRecord(metadata) && Object.hasOwn(metadata, "transient") && metadata.transient) return true;
  const open: unknown[] = [...message.content];
  for (let block = open.pop(); block !== undefined; block = open.pop()) {
    if (!isRecord(block)) continue;
    if (block.type === "reasoning") return true;
    // Inside a tool result, what has the type of a block is a block.
    if (block.type === "tool_result" && Array.isArray(block.content)) {
      for (const inner of block.content) open.push(inner);
    }
  }
  return false;
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
