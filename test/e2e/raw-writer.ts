import { once } from "node:events";
import { WebSocket } from "ws";
import type { Head } from "../../src/model/revision.ts";

interface Op {
  readonly opId: string;
  readonly base: Head;
  readonly ids: readonly string[];
}
interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

const EMPTY: Head = { generation: 0, count: 0, lastId: null };

/**
 * Appends to a session of its own as fast as the relay takes it, some ops in flight, and remembers what was
 * acknowledged. After a crash it sends again what was not, unchanged.
 */
export class RawWriter {
  readonly session: string;
  readonly #inFlight: number;
  readonly #pending: Op[] = [];
  /** Ids in the order in which they were sent; those before `acknowledged` were acknowledged. */
  readonly sent: string[] = [];
  acknowledged = 0;
  /** Acknowledgements that said the op was done before: what the crash left durable and unanswered. */
  known = 0;
  #head: Head = EMPTY;
  #ops = 0;
  #socket: WebSocket | undefined;

  constructor(session: string, inFlight: number) {
    this.session = session;
    this.#inFlight = inFlight;
  }

  async start(url: string): Promise<void> {
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.on("error", () => {});
    await hello(socket);
    socket.on("message", (data) => this.#heard(JSON.parse(String(data)), socket));
    for (const op of this.#pending) this.#send(op, socket);
    this.#fill(socket);
  }

  /** Sends nothing new, and resolves when all is acknowledged. */
  async finish(url: string): Promise<void> {
    this.stop();
    const socket = new WebSocket(url);
    await hello(socket);
    const all = new Promise<void>((resolve, reject) => {
      socket.on("close", () => reject(new Error("Closed before all was acknowledged")));
      socket.on("message", (data) => {
        this.#settle(JSON.parse(String(data)));
        if (this.#pending.length === 0) resolve();
      });
      if (this.#pending.length === 0) resolve();
    });
    for (const op of this.#pending) this.#send(op, socket);
    await all;
    socket.removeAllListeners("close").terminate();
  }

  stop(): void {
    this.#socket?.removeAllListeners("message");
    this.#socket?.terminate();
  }

  #heard(frame: Frame, socket: WebSocket): void {
    // What a relay says that goes down is no answer.
    if (this.#socket !== socket || frame.type === "fault") return;
    this.#settle(frame);
    this.#fill(socket);
  }

  #settle(frame: Frame): void {
    if (frame.type === "push") return;
    const [op] = this.#pending;
    if (op === undefined || frame.type !== "ack" || frame.opId !== op.opId) {
      throw new Error(
        `Expected the acknowledgement of ${op?.opId}, got ${JSON.stringify(frame).slice(0, 300)}`,
      );
    }
    const head = frame.head as Head;
    if (head.count !== op.base.count + op.ids.length)
      throw new Error(`${op.opId} stands elsewhere: ${head.count}`);
    if (frame.outcome === "known") this.known += 1;
    this.#pending.shift();
    this.acknowledged += op.ids.length;
  }

  #fill(socket: WebSocket): void {
    while (this.#pending.length < this.#inFlight) {
      this.#ops += 1;
      const ids = Array.from({ length: 1 + (this.#ops % 3) }, (_, n) => `${this.session}-${this.#ops}-${n}`);
      const op: Op = { opId: `${this.session}-op-${this.#ops}`, base: this.#head, ids };
      this.#head = { generation: 0, count: this.#head.count + ids.length, lastId: ids.at(-1) ?? null };
      this.#pending.push(op);
      this.sent.push(...ids);
      this.#send(op, socket);
    }
  }

  #send({ opId, base, ids }: Op, socket: WebSocket): void {
    const messages = ids.map((id) => ({
      id,
      role: "user",
      content: [{ type: "text", text: `text of ${id} `.repeat(20) }],
      metadata: {},
      createdAt: "2025-01-01T00:00:00.000Z",
    }));
    const { session } = this;
    socket.send(JSON.stringify({ type: "append", opId, session, incarnation: null, base, messages }));
  }
}

async function hello(socket: WebSocket): Promise<void> {
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "hello", protocol: 1, actorId: "ann", device: "raw" }));
  const [data] = await once(socket, "message");
  const frame: Frame = JSON.parse(String(data));
  if (frame.type !== "welcome") throw new Error(`Expected a welcome, got ${JSON.stringify(frame)}`);
}

/** The whole log of a session, page by page. */
export async function readLog(url: string, session: string): Promise<string[]> {
  const socket = new WebSocket(url);
  await hello(socket);
  const ids: string[] = [];
  for (let more = true; more; ) {
    const have = { generation: 0, count: ids.length, lastId: ids.at(-1) ?? null };
    socket.send(JSON.stringify({ type: "pull", id: "p", session, incarnation: null, have, stateCursor: 0 }));
    const [data] = await once(socket, "message");
    const page: Frame = JSON.parse(String(data));
    if (page.type === "not-answered") break;
    if (page.start !== ids.length) throw new Error(`A page starts at ${page.start}, not at ${ids.length}`);
    ids.push(...(page.messages as { message: { id: string } }[]).map(({ message }) => message.id));
    more = page.more === true;
  }
  socket.terminate();
  return ids;
}
