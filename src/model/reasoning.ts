import { type Content, isBlock, type ToolResultContent } from "./content.ts";
import type { JsonValue } from "./json.ts";
import { checkMessage, type Message, rebuildMessage } from "./message.ts";

/**
 * The message without its reasoning blocks, those inside tool results included; the same object when it has none (M6).
 * Content may be empty afterwards.
 * @throws InvalidInputError for what is no message.
 */
export function withoutReasoning(message: Message): Message {
  const checked = checkMessage(message, "message");
  const content = withoutReasoningIn(checked.content);
  return content === checked.content
    ? message
    : rebuildMessage(checked, { content: content as readonly Content[] });
}

type Item = Content | JsonValue;

/** Content, or the items of a tool's result, without reasoning; the same array when nothing in it had to go. */
export function withoutReasoningIn(items: readonly Item[]): readonly Item[] {
  let changed = false;
  const kept: Item[] = [];
  for (const item of items) {
    if (!isBlock(item)) {
      kept.push(item);
      continue;
    }
    if (item.type === "reasoning") {
      changed = true;
      continue;
    }
    const inner = item.type === "tool_result" ? openResult(item.content) : undefined;
    if (item.type === "tool_result" && inner !== undefined && inner !== item.content) {
      changed = true;
      kept.push(Object.freeze({ ...item, content: inner }));
    } else {
      kept.push(item);
    }
  }
  return changed ? Object.freeze(kept) : items;
}

function openResult(content: ToolResultContent): ToolResultContent {
  return Array.isArray(content) ? withoutReasoningIn(content) : content;
}
