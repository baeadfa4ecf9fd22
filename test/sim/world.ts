import { createHash } from "node:crypto";
import type { RelayCore } from "../../server/relay-core.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { newId } from "../../src/model/ids.ts";
import { createMessage, type Message, serializeMessage, textOf } from "../../src/model/message.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { TestNetwork } from "../../src/testing/network.ts";
import { type SeededRandom, seededRandom } from "../../src/testing/random.ts";
import { startCore } from "./core.ts";
import { ACTOR, Device, SESSION, type Writer } from "./device.ts";

/** Clients, a relay and the network between them, in one process and on one clock. */
export class World {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly clock = new TestClock();
  readonly network: TestNetwork;
  readonly devices: Device[] = [];
  readonly storage: RelayStorage;
  readonly #trace = createHash("sha256");
  #core: RelayCore | undefined;
  #texts = 0;

  private constructor(seed: number, storage: RelayStorage) {
    this.seed = seed;
    this.random = seededRandom(seed);
    this.storage = storage;
    this.network = new TestNetwork({
      clock: this.clock,
      random: this.random.fork("network"),
      accept: (socket, url) => {
        const receiver = this.#core?.accept(socket, { url });
        if (receiver === undefined) socket.close(1013);
        return { received: (data) => receiver?.received(data), closed: () => receiver?.closed() };
      },
    });
  }

  static async begin(seed: number, storage: RelayStorage, devices: number): Promise<World> {
    const world = new World(seed, storage);
    await world.startRelay();
    for (let n = 0; n < devices; n++) {
      const device = new Device(world, String.fromCharCode(97 + n));
      world.devices.push(device);
      await device.start();
    }
    return world;
  }

  /** Adds to the trace of this world. */
  note(what: string, data: string | Uint8Array = ""): void {
    this.#trace.update(`${this.clock.now()} ${what} `).update(data);
  }

  /** What happened, as one number: the same seed and script give the same. */
  trace(): string {
    return this.#trace.copy().digest("hex");
  }

  async startRelay(): Promise<void> {
    this.#core = await startCore(this.storage, this.clock, this.random.fork("relay"));
  }

  /** The relay's process dies and another one takes its storage. */
  async restartRelay(): Promise<void> {
    const core = this.#core;
    this.#core = undefined;
    this.network.dropAll();
    await core?.close();
    await this.startRelay();
  }

  message(device: Pick<Writer, "name">, text = `${device.name}${++this.#texts}`): Message {
    const id = newId({ nowMs: this.clock.now(), bytes: (length) => this.random.bytes(length) });
    return createMessage({
      role: "user",
      content: text,
      id,
      createdAt: new Date(this.clock.now()).toISOString(),
    });
  }

  /** Lets time pass while something waits for it. A step that takes longer than a minute of it hangs. */
  async during<T>(work: T): Promise<Awaited<T>> {
    let done = false;
    const settled = Promise.resolve(work).finally(() => {
      done = true;
    });
    settled.catch(() => undefined);
    await this.clock.advance(0);
    for (let waited = 0; !done; waited += 20) {
      if (waited > 60_000) throw new Error("A step hangs");
      await this.clock.advance(20);
    }
    return settled;
  }

  /** No more trouble: waits until every client has nothing left to send and holds what the relay holds. */
  async settle(limitMs = 600_000): Promise<void> {
    for (const { cable, page, tab } of this.devices) {
      tab.thaw();
      cable.heal();
      cable.delayMs = 0;
      cable.duplicateOps = 0;
      page.signal("online");
    }
    const end = this.clock.now() + limitMs;
    for (;;) {
      await this.clock.advance(1_000);
      if (await this.isSettled()) return;
      if (this.clock.now() > end) throw new Error(`Not settled: ${JSON.stringify(await this.describe())}`);
    }
  }

  async isSettled(): Promise<boolean> {
    const position = await this.storage.position(ACTOR);
    for (const { client, database, second } of this.devices) {
      if (
        second !== undefined &&
        (second.client.status.pending > 0 || second.client.status.link !== "online")
      )
        return false;
      if (client.status.pending > 0 || client.status.link !== "online") return false;
      const cursor = await database.read(["meta"], (tx) => tx.get("meta", ["cursor"]));
      if ((cursor?.value ?? 0) !== position) return false;
      const rows = await database.read(["sessions"], (tx) => tx.list("sessions"));
      const behind = rows.some(
        ({ head, remote, stateCursor }) =>
          head.count !== remote.head.count ||
          head.generation !== remote.head.generation ||
          stateCursor < remote.stateCursor,
      );
      if (behind) return false;
    }
    return true;
  }

  async describe(): Promise<unknown> {
    return Promise.all(
      this.devices.map(async ({ name, client, database }) => ({
        name,
        status: client.status,
        error: client.status.lastError?.message,
        cause: String(client.status.lastError?.cause),
        rows: await database.read(["sessions", "outbox"], async (tx) => ({
          sessions: await tx.list("sessions"),
          outbox: await tx.list("outbox"),
        })),
      })),
    );
  }

  /** Every message the relay holds in any generation of the session, each generation in order. */
  async generations(): Promise<{ generation: number; messages: { id: string; text: string }[] }[]> {
    const pulled = await this.storage.pull(
      { actor: ACTOR, session: SESSION, incarnation: null },
      { have: null, stateCursor: 0, maxMessages: 1, maxBytes: 1_000 },
    );
    if (!("incarnation" in pulled)) return [];
    const place = { actor: ACTOR, session: SESSION, incarnation: pulled.incarnation };
    const entries = await this.storage.listGenerations(place, 10_000);
    if (!Array.isArray(entries)) return [];
    const found = [];
    for (const { generation } of entries) {
      const messages: { id: string; text: string }[] = [];
      for (;;) {
        const page = await this.storage.readGeneration(
          { ...place },
          { generation, from: messages.length, maxMessages: 500, maxBytes: 1 << 24 },
        );
        if (!("messages" in page)) break;
        for (const { body } of page.messages) {
          const json = JSON.parse(body);
          messages.push({ id: json.id, text: json.content?.[0]?.text ?? "" });
        }
        if (!page.more) break;
      }
      found.push({ generation, messages });
    }
    return found.sort((a, b) => a.generation - b.generation);
  }

  async close(): Promise<void> {
    for (const device of this.devices) {
      await device.second?.client.close();
      await device.client.close();
    }
    await this.#core?.close();
  }
}

export function textsOf(messages: readonly Message[]): string[] {
  return messages.map(textOf);
}

export { serializeMessage };
