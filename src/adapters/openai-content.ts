import { type Content, isBlock, type ToolResultContent } from "../model/content.ts";
import type { JsonValue } from "../model/json.ts";
import { withoutReasoningIn } from "../model/reasoning.ts";
import { serializeContent } from "../model/serialize-content.ts";
import { isObject } from "./openai-additions.ts";
import { readPart, writePart } from "./openai-parts.ts";
import { type Note, notesByPlace, type Residue } from "./openai-residue.ts";

type Item = Content | JsonValue;

/** The content of a message read, and what the residue must say of it. */
export interface ContentRead<Items> {
  readonly items: Items;
  readonly form?: Residue["content"];
  readonly parts: readonly Note[];
}

/** Reads the content of a message that is no tool's. `calls` says whether the message also calls tools. */
export function readContentOf(content: JsonValue | undefined, calls: boolean): ContentRead<Content[]> {
  if (content === undefined) return { items: [], form: "absent", parts: [] };
  if (content === null) return { items: [], parts: [], ...(calls ? {} : { form: "null" }) };
  if (typeof content === "string") return { items: [{ type: "text", text: content }], parts: [] };
  // Anything else is no content; the message's other fields keep it.
  if (!Array.isArray(content)) return { items: [], parts: [] };
  const read = content.map((part, at) => readPart(part, at));
  const items = read.flatMap(({ block }) => (block === undefined ? [] : [block]));
  const parts = read.flatMap(({ note }) => note ?? []);
  // Several parts can only be written as parts, and stay several whatever a store leaves out.
  const severalRead = items.filter((item) => !isReasoning(item)).length > 1;
  return { items, parts, ...(severalRead ? {} : { form: "parts" }) };
}

/** Reads the content of a tool's message. */
export function readResultOf(content: JsonValue | undefined): ContentRead<ToolResultContent> {
  if (content === undefined) return { items: null, form: "absent", parts: [] };
  if (content === null) return { items: null, form: "null", parts: [] };
  if (typeof content === "string") return { items: content, parts: [] };
  if (!Array.isArray(content)) return { items: content, form: "json", parts: [] };
  const items: Item[] = [];
  const parts: Note[] = [];
  content.forEach((part, at) => {
    const { block, note } = readPart(part, at);
    if (block === undefined && !isBlock(part)) {
      items.push(part);
      return;
    }
    if (block !== undefined) items.push(block);
    if (note !== undefined) parts.push(note);
  });
  const plain = items.length > 0 && items.every((item) => isBlock(item) && !isReasoning(item));
  return { items, parts, ...(plain ? {} : { form: "parts" }) };
}

/** The content of a message that is no tool's; undefined where it had none. */
export function writeContentOf(
  blocks: readonly Content[],
  calls: boolean,
  residue: Residue,
): JsonValue | undefined {
  const parts = writeParts(blocks, residue.parts);
  if (parts.length === 0 && residue.content !== "parts") {
    if (residue.content === "absent") return undefined;
    return calls || residue.content === "null" ? null : "";
  }
  const [only] = parts;
  const plain = parts.length === 1 && residue.content !== "parts" && isObject(only) && only.type === "text";
  return plain && Object.keys(only).length === 2 ? (only.text ?? "") : [...parts];
}

/** The content of a tool's message; undefined where it had none. */
export function writeResultOf(content: ToolResultContent, residue: Residue): JsonValue | undefined {
  if (content === null && residue.content === "absent") return undefined;
  if (content === null && residue.content === "null") return null;
  if (typeof content === "string") return content;
  const items: readonly Item[] | undefined = Array.isArray(content) ? content : undefined;
  if (items === undefined)
    return residue.content === "json" ? (content as JsonValue) : JSON.stringify(content);
  if (residue.content === "parts" || (items.length > 0 && items.every(isWritable))) {
    return [...writeParts(items, residue.parts)];
  }
  const open = withoutReasoningIn(items);
  return JSON.stringify(open.map((item) => (isBlock(item) ? serializeContent([item])[0] : item)));
}

function isWritable(item: Item): boolean {
  return isBlock(item) && writePart(item) !== undefined;
}

/** The parts in their places: those of the blocks, and between them those that are no blocks. */
function writeParts(items: readonly Item[], notes: readonly Note[] | undefined): readonly JsonValue[] {
  const byPlace = notesByPlace(notes);
  const parts: JsonValue[] = [];
  let at = 0;
  for (const item of items) {
    let note = byPlace.get(at);
    for (; note !== undefined && !takes(note, item); note = byPlace.get(at)) {
      if (note.raw !== undefined) parts.push(note.raw);
      byPlace.delete(at);
      at += 1;
    }
    // Reasoning that no note names was never a part.
    if (isReasoning(item) && note === undefined) continue;
    const part = isBlock(item) ? writePart(item, note) : item;
    if (part !== undefined) parts.push(part);
    byPlace.delete(at);
    at += 1;
  }
  for (const note of byPlace.values()) if (note.raw !== undefined) parts.push(note.raw);
  return parts;
}

/** Whether a note is about this item: not when it is a part of its own, or of reasoning that is gone by now (S9). */
function takes(note: Note, item: Item): boolean {
  return note.raw === undefined && (note.as === "reasoning") === isReasoning(item);
}

function isReasoning(item: Item): boolean {
  return isBlock(item) && item.type === "reasoning";
}
