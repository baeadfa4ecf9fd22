import { decodeBase64 } from "../src/model/base64.ts";
import { type JsonValue, MAX_JSON_DEPTH } from "../src/model/json.ts";
import type { OpFrame } from "../src/wire/client-frames.ts";
import { utf8Bytes } from "../src/wire/codec.ts";
import type { FaultCode } from "../src/wire/fault.ts";
import type { MetadataChange, WireMessage } from "../src/wire/shapes.ts";
import type { UpdateCheck } from "./channel/update-check.ts";
import type { Digest } from "./digest.ts";
import type { RelayLimits } from "./limits.ts";
import { holdsPrivate } from "./private-content.ts";
import type { MessageBody, OpWrite, Refused } from "./storage/contract.ts";

/** An op as storage takes it, or why it can never be accepted. */
export type Taken = { readonly write: OpWrite } | { readonly refused: Refused };

export interface Intake {
  readonly actor: string;
  readonly limits: RelayLimits;
  readonly checkState: (update: Uint8Array) => UpdateCheck;
  readonly digest: Digest;
}

/** Checks at the wall what storage relies on: sizes, depth, state that decodes, and that nothing private comes in (H7). */
export function takeOp(
  frame: OpFrame,
  text: string,
  { actor, limits, checkState, digest: digestText }: Intake,
): Taken {
  if (!fits(text, limits.maxOpBytes)) return tooLarge("maxOpBytes", limits.maxOpBytes);
  // No shorter text can nest that deep, and measuring costs.
  if (text.length > 2 * MAX_JSON_DEPTH && nestsDeeper(text, MAX_JSON_DEPTH + ENVELOPE_DEPTH)) {
    return tooLarge("maxDepth", MAX_JSON_DEPTH);
  }
  const { opId, session, incarnation } = frame;
  const fields = { actor, session, incarnation, opId };
  switch (frame.type) {
    case "delete":
      return { write: { kind: "delete", ...fields, digest: digestText(contentOf("delete")) } };
    case "edit": {
      const { metadata, archived, read } = frame;
      const bad = badPointer(metadata);
      if (bad !== undefined) return refuse("malformed", bad);
      const digest = digestText(contentOf("edit", { metadata, archived, read }));
      return { write: { kind: "edit", ...fields, digest, metadata, archived, read } };
    }
    case "append":
    case "replace": {
      const bodies: MessageBody[] = [];
      for (const message of frame.messages) {
        if (holdsPrivate(message)) {
          return refuse("malformed", "Reasoning and transient messages stay out of the log");
        }
        const body = bodyOf(message);
        if (!fits(body, limits.maxMessageBytes)) return tooLarge("maxMessageBytes", limits.maxMessageBytes);
        bodies.push({ id: message.id, body });
      }
      const { base, metadata } = frame;
      const bad = badPointer(metadata);
      if (bad !== undefined) return refuse("malformed", bad);
      const state = frame.state === undefined ? undefined : decodeBase64(frame.state);
      if (state !== undefined && state.byteLength > limits.maxStateBytes) {
        return tooLarge("maxStateBytes", limits.maxStateBytes);
      }
      const checked = state === undefined ? "empty" : checkState(state);
      if (checked === "slow") return tooLarge("stateCheckMs", limits.stateCheckMs);
      if (checked === "bad") return refuse("invalid-state", "The state is no Yjs update that can be applied");
      const change = { messages: bodies, metadata, state: checked === "good" ? state : undefined };
      if (frame.type === "append") {
        const digest = digestText(contentOf("append", { metadata }, bodies));
        return { write: { kind: "append", ...fields, digest, base, ...change } };
      }
      const { keep } = frame;
      const digest = digestText(contentOf("replace", { metadata, keep }, bodies));
      return { write: { kind: "replace", ...fields, digest, base, keep, ...change } };
    }
  }
}

/** Whether a text's UTF-8 form is at most so long. Counts only where it could matter. */
export function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Bytes(text) <= maxBytes);
}

// A frame, its array of changes, a change: what stands around a value of metadata, and more than around a message.
const ENVELOPE_DEPTH = 3;

/** Whether JSON text nests arrays and objects deeper than this. */
export function nestsDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (inString) {
      if (unit === BACKSLASH) at += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      depth += 1;
      if (depth > levels) return true;
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function bodyOf(message: WireMessage): string {
  return JSON.stringify(message);
}

/** Equal for the same content, whatever it is based on (P14). Lengths lead, so that no two contents look alike. */
function contentOf(
  kind: OpWrite["kind"],
  rest: { readonly [name: string]: JsonValue | object | undefined } = {},
  messages: readonly MessageBody[] = [],
): string {
  const head = JSON.stringify([kind, rest, messages.length]);
  return messages.reduce((joined, { body }) => `${joined}${body.length}:${body}`, head);
}

function badPointer(changes: readonly MetadataChange[] | undefined): string | undefined {
  for (const { at } of changes ?? []) {
    if (at !== "" && !at.startsWith("/")) return "metadata[].at must be a JSON Pointer";
    if (at.split("/").length > MAX_JSON_DEPTH)
      return `metadata[].at must not go deeper than ${MAX_JSON_DEPTH}`;
  }
  return undefined;
}

function tooLarge(name: keyof RelayLimits | "maxDepth", max: number): Taken {
  return {
    refused: { ok: false, code: "too-large", message: `The limit ${name} is ${max}`, limit: { name, max } },
  };
}

function refuse(code: FaultCode, message: string): Taken {
  return { refused: { ok: false, code, message } };
}
