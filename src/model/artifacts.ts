import { type Content, isBlock } from "./content.ts";
import { type JsonObject, type JsonValue, setKey } from "./json.ts";
import { type Message, rebuildMessage } from "./message.ts";

/** The key of metadata that lists a message's run-scoped artifacts: `[{reference}]`. */
export const ARTIFACTS_KEY = "holdfastArtifacts";

/** What stands in the text where a reference stood. */
export const ARTIFACT_GONE = "[artifact unavailable after run]";

/** Whether the message names artifacts that end with its run. */
export function hidesArtifacts(message: Message): boolean {
  return Object.hasOwn(message.metadata, ARTIFACTS_KEY);
}

/**
 * The message with each artifact reference in its text and its tool results replaced by {@link ARTIFACT_GONE}, and
 * without the list of them; other metadata stays (S10). Keys of objects and inputs of calls are left as they are.
 */
export function withoutArtifacts(message: Message): Message {
  const { [ARTIFACTS_KEY]: listed, ...metadata } = message.metadata;
  const references = referencesIn(listed);
  return rebuildMessage(message, {
    metadata: Object.freeze(metadata),
    content:
      references.length === 0
        ? message.content
        : Object.freeze(message.content.map((block) => replaceInBlock(block, references))),
  });
}

/** The longest first, so that no piece of one is left over where another is a part of it. */
function referencesIn(listed: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(listed)) return [];
  const references = listed.flatMap((item) => {
    const reference =
      typeof item === "object" && item !== null && !Array.isArray(item) ? item.reference : undefined;
    return typeof reference === "string" && reference !== "" ? [reference] : [];
  });
  return references.sort((a, b) => b.length - a.length);
}

function replaceInText(text: string, references: readonly string[]): string {
  // Splitting, so that no later reference can match inside what replaced an earlier one.
  let pieces = [text];
  for (const reference of references) pieces = pieces.flatMap((piece) => piece.split(reference));
  return pieces.join(ARTIFACT_GONE);
}

function replaceInBlock(block: Content, references: readonly string[]): Content {
  if (block.type === "text") return Object.freeze({ ...block, text: replaceInText(block.text, references) });
  if (block.type !== "tool_result") return block;
  const { content } = block;
  const replaced = Array.isArray(content)
    ? Object.freeze(content.map((item: Content | JsonValue) => replaceInItem(item, references)))
    : replaceInJson(content as JsonValue, references);
  return Object.freeze({ ...block, content: replaced });
}

function replaceInItem(item: Content | JsonValue, references: readonly string[]): Content | JsonValue {
  return isBlock(item) ? replaceInBlock(item, references) : replaceInJson(item, references);
}

function replaceInJson(value: JsonValue, references: readonly string[]): JsonValue {
  if (typeof value === "string") return replaceInText(value, references);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => replaceInJson(item, references));
    return Object.freeze(items) as JsonValue[];
  }
  const copy: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) setKey(copy, key, replaceInJson(inner, references));
  return Object.freeze(copy);
}
