// Writes without end, and tells a witness outside of the browser what has become of it, so that it is known after a kill.
import type { SyncedSession } from "holdfast";

/** What a page tells the witness of one of its messages, by the message's id. */
export interface Testimony {
  /** `began`: the append is called once the witness has answered. `committed`: it has resolved. `acknowledged`: it is shown as confirmed. */
  readonly kind: "began" | "committed" | "acknowledged";
  readonly id: string;
}

export interface WritingOptions {
  readonly session: string;
  /** Ids are this, a blank and a number from 0. */
  readonly name: string;
  /** ws://… of the witness. */
  readonly witness: string;
  /** Between the end of an append and the beginning of the next one. */
  readonly pauseMs: number;
}

let writing = false;
let written: Promise<void> = Promise.resolve();

export const writer = {
  /** Resolves when the first append has begun. */
  async start(session: SyncedSession, options: WritingOptions): Promise<void> {
    const socket = new WebSocket(options.witness);
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    const tell = (testimony: Testimony): void => socket.send(JSON.stringify(testimony));
    const begin = async (id: string): Promise<void> => {
      const heard = new Promise<void>((resolve) => {
        socket.onmessage = ({ data }) => {
          if (data === id) resolve();
        };
      });
      tell({ kind: "began", id });
      await heard;
    };
    const acknowledged = new Set<string>();
    session.messages.subscribe(() => {
      for (const { message, delivery } of session.messages.entries) {
        const { id } = message;
        if (delivery !== "confirmed" || acknowledged.has(id) || !id.startsWith(`${options.name} `)) continue;
        acknowledged.add(id);
        tell({ kind: "acknowledged", id });
      }
    });
    writing = true;
    written = (async () => {
      for (let n = 0; writing; n += 1) {
        const id = `${options.name} ${n}`;
        await begin(id);
        await session.append({ messages: [{ id, role: "user", content: `${id}, `.repeat(20) }] });
        tell({ kind: "committed", id });
        await new Promise((resolve) => setTimeout(resolve, options.pauseMs));
      }
    })();
  },
  /** Resolves when the last append has; rejects as it did. */
  async stop(): Promise<void> {
    writing = false;
    await written;
  },
};
