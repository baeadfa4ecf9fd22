import type { Content, Message } from "holdfast";
import { dayKey } from "./dates.ts";

type ToolUse = Extract<Content, { type: "tool_use" }>;
type ToolResult = Extract<Content, { type: "tool_result" }>;

export interface Entry {
  readonly message: Message;
  readonly delivery: "pending" | "confirmed" | "rejected";
}

/** One line of the thread. Tool results stand with their calls, whatever message brought them. */
export type Row =
  | { readonly kind: "day"; readonly key: string; readonly at: string }
  | {
      readonly kind: "message";
      readonly key: string;
      readonly entry: Entry;
      /** First, or last, of a run of messages by one speaker within a few minutes. */
      readonly first: boolean;
      readonly last: boolean;
      readonly calls: readonly ToolCall[];
      readonly text: boolean;
    };

export interface ToolCall {
  readonly key: string;
  readonly use: ToolUse | undefined;
  readonly result: ToolResult | undefined;
}

/** Messages of one speaker this close together are shown as one group. */
const groupMs = 5 * 60_000;

export function threadRows(entries: readonly Entry[]): readonly Row[] {
  const results = resultsByCall(entries);
  const known = new Set(entries.flatMap(({ message }) => usesOf(message).map((use) => use.id)));
  const shown = entries
    .map((entry) => ({ entry, calls: callsOf(entry.message, results, known), text: hasText(entry.message) }))
    // A message that only brings results of calls above has nothing of its own to show.
    .filter(({ entry, calls, text }) => text || calls.length > 0 || entry.delivery === "rejected");
  return shown.flatMap(({ entry, calls, text }, at): Row[] => {
    const before = shown[at - 1]?.entry;
    const after = shown[at + 1]?.entry;
    const newDay =
      before === undefined || dayKey(before.message.createdAt) !== dayKey(entry.message.createdAt);
    const row: Row = {
      kind: "message",
      key: entry.message.id,
      entry,
      first: newDay || !grouped(before, entry),
      last: after === undefined || !grouped(entry, after),
      calls,
      text,
    };
    if (!newDay) return [row];
    return [{ kind: "day", key: `day-${entry.message.id}`, at: entry.message.createdAt }, row];
  });
}

function grouped(a: Entry, b: Entry): boolean {
  if (sideOf(a.message) !== sideOf(b.message)) return false;
  if (dayKey(a.message.createdAt) !== dayKey(b.message.createdAt)) return false;
  return Date.parse(b.message.createdAt) - Date.parse(a.message.createdAt) < groupMs;
}

/** Whose words these are: the person's, or the other side's, tools included. */
export function sideOf(message: Message): "person" | "agent" {
  return message.role === "user" ? "person" : "agent";
}

function usesOf(message: Message): readonly ToolUse[] {
  return message.content.filter((block) => block.type === "tool_use");
}

function resultsByCall(entries: readonly Entry[]): ReadonlyMap<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (const { message } of entries) {
    for (const block of message.content) {
      if (block.type === "tool_result") results.set(block.toolUseId, block);
    }
  }
  return results;
}

function callsOf(
  message: Message,
  results: ReadonlyMap<string, ToolResult>,
  known: ReadonlySet<string>,
): readonly ToolCall[] {
  return message.content.flatMap((block, at): ToolCall[] => {
    if (block.type === "tool_use") return [{ key: `${at}`, use: block, result: results.get(block.id) }];
    if (block.type === "tool_result" && !known.has(block.toolUseId))
      return [{ key: `${at}`, use: undefined, result: block }];
    return [];
  });
}

function hasText(message: Message): boolean {
  return message.content.some((block) =>
    block.type === "text" ? block.text.trim() !== "" : isAttachment(block),
  );
}

function isAttachment(block: Content): boolean {
  return block.type === "image" || block.type === "document";
}
