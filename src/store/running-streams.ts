import type { Role } from "../model/message.ts";

/** A message while it is being written. */
export interface RunningStream {
  /** Also the id of the message it becomes. */
  readonly id: string;
  readonly role: Role;
  readonly runId: string | undefined;
  /** What was written so far. */
  readonly text: string;
}

/** The messages being written now, in all tabs of one actor. In memory only: what is to last is appended. */
export interface StreamBoard {
  /** Begins one, of this tab. @throws HoldfastError `limit-reached`. */
  begin(session: string, stream: Pick<RunningStream, "role" | "runId">): RunningStream;
  /** Its text is now this, which the former text begins. */
  grow(session: string, id: string, text: string): void;
  /** Nothing follows. With `kept`, it is shown until its message is, for a while at most. */
  end(session: string, id: string, options: { readonly kept: boolean }): void;
  running(session: string): readonly RunningStream[];
  watch(session: string, listener: () => void): () => void;
}

/** A piece of a stream's text, and how many UTF-16 code units stand before it. */
export interface Piece {
  readonly at: number;
  readonly text: string;
}

export type Taken =
  | { readonly is: "grown"; readonly text: string }
  | { readonly is: "known" }
  /** Something before it was lost: it can only be asked for again. */
  | { readonly is: "gap" };

/** What a piece makes of the text held. Pieces may come twice, overlap, or be lost. */
export function takePiece(held: string, { at, text }: Piece): Taken {
  if (at > held.length) return { is: "gap" };
  if (at + text.length <= held.length) return { is: "known" };
  return { is: "grown", text: held + text.slice(held.length - at) };
}
