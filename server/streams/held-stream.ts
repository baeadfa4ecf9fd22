import { writeFrame } from "../../src/wire/codec.ts";
import type { FaultCode, LimitNamed } from "../../src/wire/fault.ts";
import type { Stream } from "../../src/wire/stream.ts";

/** One connection that reads the frames of streams. */
export interface StreamSeat {
  /** Says it, or leaves it out where the connection reads too slowly: what is missed is a gap, and asked for. */
  say(text: string): void;
}

/** What names a stream and says whose it is; stays as it was begun. */
export type StreamName = Pick<Stream, "id" | "session" | "incarnation" | "role" | "runId">;

/** A message in the making, as a relay holds it: in memory, as long as it runs. */
export interface HeldStream {
  readonly name: StreamName;
  text: string;
  bytes: number;
  /** Code units that the readers here were told. */
  told: number;
  /** The connection that writes it here; undefined while there is none. */
  writer: StreamSeat | undefined;
  /** It is written at another relay process. */
  readonly afar: boolean;
  /** Nobody is told of it before its session was looked for. */
  checked: boolean;
  /** The offset last asked for: one question is enough for all pieces behind a gap. */
  asked: number | undefined;
  cancelGather: (() => void) | undefined;
  cancelSilence: () => void;
}

export interface StreamRefusal {
  readonly code: FaultCode;
  readonly message: string;
  readonly limit?: LimitNamed | undefined;
}

export function pieceText({ name, text }: HeldStream, from: number): string {
  const { id, session, incarnation, role, runId } = name;
  const named = { type: "stream", id, session, incarnation, role } as const;
  const piece = { at: from, text: text.slice(from) };
  return writeFrame(runId === undefined ? { ...named, ...piece } : { ...named, runId, ...piece });
}

export function endText({ id, session }: StreamName, kept: boolean): string {
  return writeFrame({ type: "stream-end", id, session, kept });
}

export function refusedText(id: string, { code, message, limit }: StreamRefusal): string {
  const refused = { type: "stream-refused", id, code, message } as const;
  return writeFrame(limit === undefined ? refused : { ...refused, limit });
}
