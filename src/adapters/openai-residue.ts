import type { JsonObject, JsonValue } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { isObject } from "./openai-additions.ts";

/**
 * What our content cannot say of a foreign message, kept under `metadata.openai` so that the way back is exact. Absent
 * where there is nothing of the kind; a simple message has none of it.
 */
export interface Residue {
  /** The role, where ours is another. */
  readonly role?: "function";
  /** How the content was written, where it could be written otherwise. */
  readonly content?: "null" | "absent" | "parts" | "json";
  /** The parts of the content that need a word, by their place among the parts. */
  readonly parts?: readonly Note[];
  /** The calls that need a word, by their place among the calls. */
  readonly calls?: readonly Note[];
  /** The last text is what the field `refusal` said. */
  readonly refusal?: boolean;
  /** The fields that the leading reasoning blocks came from. */
  readonly reasoning?: readonly string[];
  /** Fields that ours has no place for. */
  readonly extra?: JsonObject;
  /** Fields that the way back would write and that were not there. */
  readonly absent?: readonly string[];
}

/** A word about one part or one call. */
export interface Note {
  readonly at: number;
  /** It is no block of ours and stands here whole. */
  readonly raw?: JsonValue;
  /** It is a block of ours, and had these fields besides. */
  readonly more?: JsonObject;
  /** It is a block of ours, of a kind that reads otherwise there. */
  readonly as?: "refusal" | "reasoning" | "custom" | "function_call";
  /** The arguments as they were written, where writing the input again would differ. */
  readonly arguments?: string;
}

/** The key of metadata that a {@link Residue} is kept under. */
export const RESIDUE_KEY = "openai";

/** The residue of a message; what is not of its shape counts as absent, since anybody may write metadata. */
export function residueOf(message: Message): Residue {
  const kept = message.metadata[RESIDUE_KEY];
  if (!isObject(kept)) return {};
  const { role, content, parts, calls, refusal, reasoning, extra, absent } = kept;
  return {
    ...(role === "function" ? { role } : {}),
    ...(content === "null" || content === "absent" || content === "parts" || content === "json"
      ? { content }
      : {}),
    parts: notesOf(parts),
    calls: notesOf(calls),
    refusal: refusal === true,
    reasoning: textsOf(reasoning),
    absent: textsOf(absent),
    extra: isObject(extra) ? extra : {},
  };
}

/** The notes by place. */
export function notesByPlace(notes: readonly Note[] | undefined): Map<number, Note> {
  return new Map((notes ?? []).map((note) => [note.at, note]));
}

function notesOf(value: JsonValue | undefined): readonly Note[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((note) => {
    if (!isObject(note) || typeof note.at !== "number") return [];
    const { at, raw, more, as } = note;
    const known = as === "refusal" || as === "reasoning" || as === "custom" || as === "function_call";
    return {
      at,
      ...(raw === undefined ? {} : { raw }),
      ...(isObject(more) ? { more } : {}),
      ...(known ? { as } : {}),
      ...(typeof note.arguments === "string" ? { arguments: note.arguments } : {}),
    };
  });
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
