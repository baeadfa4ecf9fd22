import type { Content, ReasoningBlock, ToolResultBlock, ToolUseBlock } from "../model/content.ts";
import { type JsonObject, type JsonValue, setKey } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { legacyCallId, writeCall, writeLegacyCall } from "./openai-calls.ts";
import { writeContentOf, writeResultOf } from "./openai-content.ts";
import { notesByPlace, type Residue, residueOf } from "./openai-residue.ts";

/** A message of ours as foreign messages: one, or as many more as it holds tool results. */
export function writeForeign(message: Message): JsonObject[] {
  const residue = residueOf(message);
  const results = message.content.filter((block) => block.type === "tool_result");
  const spoken = message.content.filter((block) => block.type !== "tool_result");
  const [only] = results;
  if (message.role === "tool" && results.length === 1 && only !== undefined && spoken.length === 0) {
    return [corrected(writeResult(only, residue), residue)];
  }
  const answers = results.map((result) => writeResult(result, {}));
  if (answers.length > 0 && spoken.every((block) => block.type === "reasoning")) return answers;
  const words = corrected(writeSpoken(message, spoken, residue), residue);
  // Results answer calls before them, and come before what is said next.
  return message.role === "assistant" ? [words, ...answers] : [...answers, words];
}

function writeResult(block: ToolResultBlock, residue: Residue): JsonObject {
  const { toolUseId } = block;
  const content = writeResultOf(block.content, residue);
  const stem = legacyCallId("");
  const named: JsonObject =
    residue.role === "function" && toolUseId.startsWith(stem)
      ? { role: "function", name: toolUseId.slice(stem.length) }
      : { role: residue.role ?? "tool", tool_call_id: toolUseId };
  return content === undefined ? named : { ...named, content };
}

function writeSpoken(message: Message, blocks: readonly Content[], residue: Residue): JsonObject {
  const calls = blocks.filter((block) => block.type === "tool_use");
  const words = blocks.filter((block) => block.type !== "tool_use");
  // The format has no words of tools; as the user's they can be sent.
  const written: JsonObject = { role: message.role === "tool" ? "user" : message.role };
  for (const field of residue.reasoning ?? []) {
    const [first] = words;
    if (first?.type !== "reasoning") break;
    words.shift();
    setKey(written, field, writeReasoning(first, field));
  }
  const last = words.at(-1);
  if (residue.refusal === true && last?.type === "text") {
    words.pop();
    written.refusal = last.text;
  }
  const content = writeContentOf(words, calls.length > 0, residue);
  if (content !== undefined) written.content = content;
  return { ...written, ...writeCalls(calls, residue) };
}

function writeCalls(calls: readonly ToolUseBlock[], residue: Residue): JsonObject {
  const notes = notesByPlace(residue.calls);
  const [only] = calls;
  const first = notes.get(0);
  if (first?.as === "function_call" && calls.length === 1 && only?.id === legacyCallId(only?.name ?? "")) {
    return { function_call: writeLegacyCall(only, first) };
  }
  const written: JsonValue[] = [];
  let at = 0;
  for (const call of calls) {
    for (let note = notes.get(at); note?.raw !== undefined; note = notes.get(at)) {
      written.push(note.raw);
      notes.delete(at);
      at += 1;
    }
    written.push(writeCall(call, notes.get(at)));
    notes.delete(at);
    at += 1;
  }
  for (const note of notes.values()) if (note.raw !== undefined) written.push(note.raw);
  return written.length === 0 ? {} : { tool_calls: written };
}

function writeReasoning(block: ReasoningBlock, field: string): JsonValue {
  if (block.text !== undefined) return block.text;
  const details = block.details ?? [];
  const [only] = details;
  const wrapped = details.length === 1 && only !== undefined && Object.hasOwn(only, field);
  return wrapped ? (only[field] ?? null) : [...details];
}

function corrected(written: JsonObject, residue: Residue): JsonObject {
  const result: JsonObject = { ...written };
  for (const [key, value] of Object.entries(residue.extra ?? {})) setKey(result, key, value);
  for (const key of residue.absent ?? []) delete result[key];
  return result;
}
