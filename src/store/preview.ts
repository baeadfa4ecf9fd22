import type { JsonObject } from "../model/json.ts";

const MAX_PREVIEW_LENGTH = 140;

/** The beginning of a serialised message's text, on one line, for lists. Reads no tool content and no reasoning. */
export function preview(message: JsonObject): string {
  const content = message.content;
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const block of content) {
    if (typeof block !== "object" || block === null || Array.isArray(block)) continue;
    if (block.type === "text" && typeof block.text === "string")
      text += block.text.slice(0, 4 * MAX_PREVIEW_LENGTH);
    if (text.length > 4 * MAX_PREVIEW_LENGTH) break;
  }
  const line = text.replace(/\s+/gu, " ").trim();
  return line.length <= MAX_PREVIEW_LENGTH
    ? line
    : `${Array.from(line)
        .slice(0, MAX_PREVIEW_LENGTH - 1)
        .join("")}…`;
}
