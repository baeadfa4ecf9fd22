import type { Content } from "../model/content.ts";
import { invalidInput } from "../model/errors.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";
import type { Role } from "../model/message.ts";
import { isObject } from "./openai-additions.ts";
import { type CallRead, legacyCallId, readCall, readLegacyCall } from "./openai-calls.ts";
import { readContentOf, readResultOf } from "./openai-content.ts";
import type { Residue } from "./openai-residue.ts";

/** A foreign message in our terms, and what those cannot say of it. */
export interface ForeignRead {
  readonly role: Role;
  readonly content: readonly Content[];
  readonly residue: Residue;
}

/** The fields in which servers of this format send what the model thought. */
const REASONING_FIELDS = [
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "thinking",
  "thinking_blocks",
];

/** Reads a foreign message. Fields that it leaves out are for the caller to compare and keep. */
export function readForeign(foreign: JsonObject, path: string): ForeignRead {
  switch (foreign.role) {
    case "system":
    case "developer":
    case "user":
    case "assistant":
      return readSpoken(foreign, foreign.role);
    case "tool":
      return readToolMessage(foreign, foreign.tool_call_id, {});
    case "function": {
      const id = typeof foreign.name === "string" ? legacyCallId(foreign.name) : undefined;
      return readToolMessage(foreign, id, { role: "function" });
    }
    default:
      throw invalidInput(`${path}.role`, "must be system, developer, user, assistant, tool or function");
  }
}

function readToolMessage(foreign: JsonObject, id: JsonValue | undefined, role: Residue): ForeignRead {
  const { items, form, parts } = readResultOf(foreign.content);
  const toolUseId = typeof id === "string" ? id : "";
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId, content: items, status: "success" }],
    residue: {
      ...role,
      ...(form === undefined ? {} : { content: form }),
      ...(parts.length === 0 ? {} : { parts }),
    },
  };
}

function readSpoken(foreign: JsonObject, role: Role): ForeignRead {
  const called = readCalls(foreign);
  const calls = called.flatMap(({ block }) => block ?? []);
  const callNotes = called.flatMap(({ note }) => note ?? []);
  const thoughts = REASONING_FIELDS.flatMap((field) => readReasoning(field, foreign[field]) ?? []);
  const { items, form, parts } = readContentOf(foreign.content, calls.length > 0);
  const refusal = typeof foreign.refusal === "string" && foreign.refusal !== "" ? foreign.refusal : undefined;
  const refused: Content[] = refusal === undefined ? [] : [{ type: "text", text: refusal }];
  return {
    role,
    content: [...thoughts.map(({ block }) => block), ...items, ...refused, ...calls],
    residue: {
      ...(form === undefined ? {} : { content: form }),
      ...(parts.length === 0 ? {} : { parts }),
      ...(callNotes.length === 0 ? {} : { calls: callNotes }),
      ...(refusal === undefined ? {} : { refusal: true }),
      ...(thoughts.length === 0 ? {} : { reasoning: thoughts.map(({ field }) => field) }),
    },
  };
}

function readCalls(foreign: JsonObject): readonly CallRead[] {
  const { tool_calls: calls, function_call: legacy } = foreign;
  if (Array.isArray(calls)) return calls.map((call, at) => readCall(call, at));
  const read = calls === undefined ? readLegacyCall(legacy) : undefined;
  return read === undefined ? [] : [read];
}

/** What the model thought must be a block that stores leave out, in whatever shape it comes (S9). */
function readReasoning(
  field: string,
  value: JsonValue | undefined,
): { field: string; block: Content } | undefined {
  if (typeof value === "string") return { field, block: { type: "reasoning", text: value } };
  if (typeof value !== "object" || value === null) return undefined;
  const details = Array.isArray(value) && value.every(isObject) ? value : [{ [field]: value }];
  return { field, block: { type: "reasoning", details } };
}
