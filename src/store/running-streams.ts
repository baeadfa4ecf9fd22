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

/** What a stream is begun with. */
export interface NewStream extends Pick<RunningStream, "role" | "runId"> {
  readonly id: string | undefined;
  /** The life of the session that it is of; null while none is named. */
  readonly incarnation: () => string | null;
  /** The session was deleted meanwhile: the stream is over. */
  readonly deleted: () => void;
}

/** The messages being written now, on all devices of one actor. In memory only: what is to last is appended. */
export interface StreamBoard {
  /** Begins one, of this tab. @throws HoldfastError `limit-reached`. */
  begin(session: string, stream: NewStream): RunningStream;
  /** Its text is now this, which the former text begins. */
  grow(session: string, id: string, text: string): void;
  /** Nothing follows. With `kept`, it is shown until its message is, for a while at most. */
  end(session: string, id: string, options: { readonly kept: boolean }): void;
  running(session: string): readonly RunningStream[];
  watch(session: string, listener: () => void): () => void;
}
