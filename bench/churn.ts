import { WebSocket } from "ws";
import { Doc } from "yjs";
import { writeChannelFrame } from "../src/wire/binary.ts";
import { dialects, type Log, nextMessage } from "./dialect.ts";
import type { Figures, Row } from "./rows.ts";
import { startServer } from "./servers.ts";

export const churnRows: readonly Row[] = [
  {
    id: "C48",
    what: "state stored after a million set and delete on one key",
    of: "churnKb",
    better: "less",
    // Five hundred rows of up to sixty-four changes wait to be merged into one of some bytes.
    target: 1_280,
    unit: "KB",
  },
  {
    id: "C48",
    what: "opening it, from the question to the whole state, after a restart",
    of: "churnOpenMs",
    better: "less",
    target: 500,
    unit: "ms",
  },
];

const CHANGES = 1_000_000;
/** Changes sent and not yet durable. */
const WINDOW = 1_024;
const DURABLE = 64;
const SYNC_UPDATE = 2;

/** One device sets and deletes one key of a session's state a million times, each change an update of its own. */
export async function churnFigures(changes = CHANGES): Promise<Figures> {
  const server = await startServer("ours", "process");
  try {
    const log: Log = { person: "churner", session: "s", count: 0, lastId: null, incarnation: null };
    const writer = await Talk.open(server.port, log.person);
    const { id, text } = nextMessage(log.person);
    writer.socket.send(dialects.ours.append(log, "begin", [text], [id]));
    const incarnation = String((await writer.heard("ack")).incarnation);
    await writer.join(incarnation);
    const doc = new Doc();
    doc.on("update", (update: Uint8Array) => writer.socket.send(syncFrame(SYNC_UPDATE, update)));
    const map = doc.getMap("state");
    for (let n = 0; n < changes; n += 1) {
      if (n % 2 === 0) map.set("/key", n);
      else map.delete("/key");
      if (n - writer.durable > WINDOW) await writer.until(n - WINDOW / 2);
    }
    await writer.until(changes);
    writer.socket.close();

    await server.restart();
    const reader = await Talk.open(server.port, log.person);
    const fromMs = performance.now();
    await reader.join(incarnation);
    // An empty vector asks for everything.
    reader.socket.send(syncFrame(0, Uint8Array.of(0)));
    await reader.heard("answer");
    const churnOpenMs = performance.now() - fromMs;
    reader.socket.send(dialects.ours.pull({ ...log, incarnation }, 1, id));
    const page = await reader.heard("page");
    const state = Array.isArray(page.state) ? page.state : [];
    const bytes = state.reduce((sum: number, base64) => sum + Buffer.byteLength(String(base64), "base64"), 0);
    reader.socket.close();
    return { churnKb: bytes / 1024, churnOpenMs };
  } finally {
    await server.close();
  }
}

/** Channel 1, a sync message of one step and what it carries. */
function syncFrame(step: number, payload: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let rest = payload.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return writeChannelFrame(1, Uint8Array.of(0, step, ...length, ...payload));
}

/** A connection that remembers the last frame of each type, and how many changes are durable. */
class Talk {
  readonly socket: WebSocket;
  durable = 0;
  readonly #last = new Map<string, Record<string, unknown>>();
  #look = (): void => {};

  private constructor(port: number) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}`);
    this.socket.on("message", (data: Buffer, binary: boolean) => {
      if (binary && data[1] === DURABLE) this.durable = varUint(data.subarray(2));
      else if (binary) this.#last.set(data[1] === 0 && data[2] === 1 ? "answer" : "binary", {});
      else {
        const frame = JSON.parse(String(data));
        this.#last.set(frame.type, frame);
      }
      this.#look();
    });
  }

  static async open(port: number, person: string): Promise<Talk> {
    const talk = new Talk(port);
    await new Promise((resolve) => talk.socket.once("open", resolve));
    talk.socket.send(dialects.ours.hello(person, ""));
    await talk.heard("welcome");
    return talk;
  }

  async join(incarnation: string): Promise<void> {
    this.socket.send(JSON.stringify({ type: "open-channel", channel: 1, session: "s", incarnation }));
    await this.heard("channel-opened");
  }

  async heard(type: string): Promise<Record<string, unknown>> {
    await this.#when(() => this.#last.has(type));
    return this.#last.get(type) ?? {};
  }

  until(durable: number): Promise<void> {
    return this.#when(() => this.durable >= durable);
  }

  #when(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (holds()) resolve();
      };
      this.#look();
    });
  }
}

function varUint(bytes: Uint8Array): number {
  let [value, factor] = [0, 1];
  for (const byte of bytes) {
    value += (byte & 127) * factor;
    if (byte < 128) break;
    factor *= 128;
  }
  return value;
}
