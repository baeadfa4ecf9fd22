import { decodeBase64, encodeBase64 } from "../model/base64.ts";
import { bytesOf, type Content } from "../model/content.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";
import { additionsTo, addTo, isObject } from "./openai-additions.ts";
import type { Note } from "./openai-residue.ts";

/** A part read: the block that says it where there is one, and a note where the block does not say it all. */
export interface PartRead {
  readonly block?: Content;
  readonly note?: Note;
}

const REASONING_TYPES: readonly unknown[] = ["reasoning", "thinking", "redacted_thinking"];
const DATA_URL = /^data:([^,]*);base64,/;
const AUDIO_TYPES = { wav: "audio/wav", mp3: "audio/mpeg" } as const;

/** Reads one part of foreign content. What no block can say is kept whole in the note. */
export function readPart(part: JsonValue, at: number): PartRead {
  if (!isObject(part)) return { note: { at, raw: part } };
  // What a model thought is never stored, so it must not end up in metadata (S9).
  if (REASONING_TYPES.includes(part.type)) {
    return { block: { type: "reasoning", details: [part] }, note: { at, as: "reasoning" } };
  }
  if (part.type === "refusal" && typeof part.refusal === "string") {
    const more = additionsTo({ type: "refusal", refusal: part.refusal }, part);
    return {
      block: { type: "text", text: part.refusal },
      note: { at, as: "refusal", ...(more && noted(more)) },
    };
  }
  const block = blockOf(part);
  const made = block === undefined ? undefined : writePart(block);
  const more = made === undefined ? undefined : additionsTo(made, part);
  if (block === undefined || more === undefined) return { note: { at, raw: part } };
  return Object.keys(more).length === 0 ? { block } : { block, note: { at, more } };
}

/** A block as a part of foreign content; undefined for what is written elsewhere, or not at all. */
export function writePart(block: Content, note?: Note): JsonObject | undefined {
  const part = partOf(block, note);
  return part === undefined || note?.more === undefined ? part : addTo(part, note.more);
}

function partOf(block: Content, note: Note | undefined): JsonObject | undefined {
  switch (block.type) {
    case "text":
      return note?.as === "refusal"
        ? { type: "refusal", refusal: block.text }
        : { type: "text", text: block.text };
    case "image":
      return { type: "image_url", image_url: { url: dataUrl(block.mediaType, block) } };
    case "document": {
      const format =
        block.mediaType === AUDIO_TYPES.wav ? "wav" : block.mediaType === AUDIO_TYPES.mp3 ? "mp3" : null;
      if (format !== null) return { type: "input_audio", input_audio: { data: base64Of(block), format } };
      return { type: "file", file: { file_data: dataUrl(block.mediaType, block), filename: block.name } };
    }
    case "reasoning": {
      const [detail] = block.details ?? [];
      return note?.as === "reasoning" ? detail : undefined;
    }
    default:
      return undefined;
  }
}

function blockOf(part: JsonObject): Content | undefined {
  const { text, image_url: image, input_audio: audio, file } = part;
  if (part.type === "text") return typeof text === "string" ? { type: "text", text } : undefined;
  if (part.type === "image_url" && isObject(image)) {
    const read = readDataUrl(image.url);
    return read && { type: "image", ...read };
  }
  if (part.type === "input_audio" && isObject(audio) && (audio.format === "wav" || audio.format === "mp3")) {
    const data = typeof audio.data === "string" ? decodeBase64(audio.data) : undefined;
    return (
      data && { type: "document", data, mediaType: AUDIO_TYPES[audio.format], name: `audio.${audio.format}` }
    );
  }
  if (part.type === "file" && isObject(file) && typeof file.filename === "string") {
    const read = readDataUrl(file.file_data);
    return read && { type: "document", ...read, name: file.filename };
  }
  return undefined;
}

function readDataUrl(url: JsonValue | undefined): { data: Uint8Array; mediaType: string } | undefined {
  const header = typeof url === "string" ? DATA_URL.exec(url) : null;
  if (typeof url !== "string" || header === null) return undefined;
  const data = decodeBase64(url.slice(header[0].length));
  return data && { data, mediaType: header[1] ?? "" };
}

function dataUrl(mediaType: string, block: Content): string {
  return `data:${mediaType};base64,${base64Of(block)}`;
}

function base64Of(block: Content): string {
  return encodeBase64(bytesOf(block) ?? new Uint8Array(0));
}

function noted(more: JsonObject): { more?: JsonObject } {
  return Object.keys(more).length === 0 ? {} : { more };
}
