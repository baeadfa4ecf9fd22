import type { Part } from "./client-asks.ts";
import type { ClientFrame } from "./client-frames.ts";
import { RelayFrame } from "./relay-frames.ts";

/** Why a frame could not be read. */
export interface Unreadable {
  readonly code: "malformed" | "too-large";
  readonly message: string;
  /** The op the frame was about, where that much could be read: its refusal can name it. */
  readonly op?: { readonly opId: string; readonly session: string };
  /** The request id, likewise. */
  readonly id?: string;
}
export type Read<Frame> =
  | { readonly ok: true; readonly frame: Frame }
  | { readonly ok: false; readonly fault: Unreadable };

interface Reader<Frame> {
  safeParse(
    value: unknown,
  ): { success: true; data: Frame } | { success: false; error: { issues: readonly Issue[] } };
}
interface Issue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** Reads one text frame from a relay. Never throws. */
export function readRelayFrame(text: string): Read<RelayFrame> {
  return readAs(RelayFrame, text);
}

export function writeFrame(frame: ClientFrame | RelayFrame): string {
  return JSON.stringify(frame);
}

/** The protocol version that a client's first text names, also where this version cannot read the rest of it (P6). */
export function versionOfHello(text: string): number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { type, protocol } = value as Record<string, unknown>;
    return type === "hello" && typeof protocol === "number" ? protocol : undefined;
  } catch {
    return undefined;
  }
}

/** Reads one text frame by its shapes. Never throws. */
export function readAs<Frame>(reader: Reader<Frame>, text: string): Read<Frame> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, fault: { code: "malformed", message: "The frame is not JSON" } };
  }
  const result = reader.safeParse(value);
  if (result.success) return { ok: true, frame: result.data };
  const issue = result.error.issues[0];
  const where =
    issue === undefined ? "" : ` at ${issue.path.map(String).join(".") || "the top"}: ${issue.message}`;
  return {
    ok: false,
    fault: { code: "malformed", message: `The frame does not fit the protocol${where}`, ...about(value) },
  };
}

function about(value: unknown): Pick<Unreadable, "op" | "id"> {
  if (typeof value !== "object" || value === null) return {};
  const { opId, session, id } = value as Record<string, unknown>;
  if (typeof opId === "string" && typeof session === "string") return { op: { opId, session } };
  return typeof id === "string" ? { id } : {};
}

/** Cuts a frame's text into parts whose own frames stay within `maxFrameBytes` (rule P11). */
export function cutIntoParts(id: string, text: string, maxFrameBytes: number): Part[] {
  // A UTF-16 unit takes at most 6 bytes once escaped inside JSON; 512 bytes cover the part's own fields.
  const unitsPerPart = Math.max(1, Math.floor((maxFrameBytes - 512) / 6));
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + unitsPerPart);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) && end - at > 1) end -= 1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces.map((piece, index) => ({ type: "part", id, index, of: pieces.length, text: piece }));
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** UTF-8 length of a text, in bytes, without encoding it. Lone surrogates count 3, as their replacement does. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHighSurrogate(unit) && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      at += 1;
    } else bytes += 2;
  }
  return bytes;
}
