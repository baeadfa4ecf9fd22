import type { ToolUseBlock } from "../model/content.ts";
import { InvalidInputError } from "../model/errors.ts";
import { copyJsonObject, type JsonObject, type JsonValue, jsonEquals } from "../model/json.ts";
import { additionsTo, addTo, isObject } from "./openai-additions.ts";
import type { Note } from "./openai-residue.ts";

/** A call read: the block that says it where there is one, and a note where the block does not say it all. */
export interface CallRead {
  readonly block?: ToolUseBlock;
  readonly note?: Note;
}

/** Before functions had ids, a result was paired with its call by the function's name. */
export function legacyCallId(name: string): string {
  return `function_call:${name}`;
}

/** Reads one entry of `tool_calls`. What cannot be a tool_use block is kept whole in the note. */
export function readCall(call: JsonValue, at: number): CallRead {
  if (!isObject(call) || typeof call.id !== "string" || call.id === "") return { note: { at, raw: call } };
  const { custom } = call;
  if (call.type === "custom" && isObject(custom) && typeof custom.name === "string" && custom.name !== "") {
    if (typeof custom.input !== "string") return { note: { at, raw: call } };
    const block = {
      type: "tool_use",
      id: call.id,
      name: custom.name,
      input: { input: custom.input },
    } as const;
    return withNote(block, call, { at, as: "custom" });
  }
  const read = call.type === "function" ? readFunction(call.function, call.id) : undefined;
  if (read === undefined) return { note: { at, raw: call } };
  return withNote(read.block, call, { at, ...read.written });
}

/** Reads the legacy field `function_call`; undefined when it is no call. */
export function readLegacyCall(call: JsonValue | undefined): CallRead | undefined {
  const name = isObject(call) && typeof call.name === "string" ? call.name : "";
  const read = readFunction(call, legacyCallId(name));
  if (read === undefined || !isObject(call)) return undefined;
  const note: Note = { at: 0, as: "function_call", ...read.written };
  const more = additionsTo(writeLegacyCall(read.block, note), call);
  return more && { block: read.block, note: Object.keys(more).length === 0 ? note : { ...note, more } };
}

/** A tool_use block as an entry of `tool_calls`. */
export function writeCall(block: ToolUseBlock, note?: Note): JsonObject {
  const call: JsonObject =
    note?.as === "custom" && typeof block.input.input === "string" && Object.keys(block.input).length === 1
      ? { id: block.id, type: "custom", custom: { name: block.name, input: block.input.input } }
      : {
          id: block.id,
          type: "function",
          function: { name: block.name, arguments: argumentsOf(block, note) },
        };
  return note?.more === undefined ? call : addTo(call, note.more);
}

/** A tool_use block as the legacy field `function_call`. */
export function writeLegacyCall(block: ToolUseBlock, note?: Note): JsonObject {
  const call = { name: block.name, arguments: argumentsOf(block, note) };
  return note?.more === undefined ? call : addTo(call, note.more);
}

function readFunction(
  called: JsonValue | undefined,
  id: string,
): { block: ToolUseBlock; written: Pick<Note, "arguments"> } | undefined {
  if (!isObject(called) || typeof called.name !== "string" || called.name === "") return undefined;
  const written = called.arguments;
  if (typeof written !== "string") return undefined;
  const input = inputOf(written);
  const block: ToolUseBlock = { type: "tool_use", id, name: called.name, input };
  return { block, written: JSON.stringify(input) === written ? {} : { arguments: written } };
}

function withNote(block: ToolUseBlock, call: JsonObject, note: Note): CallRead {
  const more = additionsTo(writeCall(block, note), call);
  if (more === undefined) return { note: { at: note.at, raw: call } };
  const full: Note = Object.keys(more).length === 0 ? note : { ...note, more };
  return Object.keys(full).length === 1 ? { block } : { block, note: full };
}

/** The arguments as they were written, as long as they still say what the input says. */
function argumentsOf(block: ToolUseBlock, note: Note | undefined): string {
  const written = note?.arguments;
  return written !== undefined && jsonEquals(inputOf(written), block.input)
    ? written
    : JSON.stringify(block.input);
}

/** What arguments say as JSON; `{}` when they are no JSON object that could be stored. */
function inputOf(written: string): JsonObject {
  try {
    return copyJsonObject(JSON.parse(written), "arguments");
  } catch (error) {
    // Models write broken JSON; the text itself is kept in the note.
    if (error instanceof SyntaxError || error instanceof InvalidInputError) return {};
    throw error;
  }
}
