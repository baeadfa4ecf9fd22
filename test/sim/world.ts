import { createHash } from "node:crypto";
import type { RelayCore } from "../../server/relay-core.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { newId } from "../../src/model/ids.ts";
import { createMessage, type Message, textOf } from "../../src/model/message.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { TestNetwork } from "../../src/testing/network.ts";
import { type SeededRandom, seededRandom } from "../../src/testing/random.ts";
import { startCore } from "./core.ts";
import { ACTOR, Device, SESSION, type Writer } from "./device.ts";
import type { RelayDisk } from "./relay-disk.ts";

/** Clients, a relay and the network between them, in one process and on one clock. */
export class World {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly clock = new TestClock();
  readonly network: TestNetwork;
  readonly devices: Device[] = [];
  readonly storage: RelayStorage;
  readonly #trace = createHash("sha256");
  readonly #relayDisk: RelayDisk | undefined;
  readonly #downtimes: SeededRandom;
  #core: RelayCore | undefined;
  #killCore = (): void => {};
  #relays = 0;
  #texts = 0;
  #moment = 0;

  private constructor(seed: number, storage: RelayStorage, relayDisk: RelayDisk | undefined) {
    this.seed = seed;
    this.random = seededRandom(seed);
    this.storage = storage;
    this.#relayDisk = relayDisk;
    this.#downtimes = this.random.fork("downtimes");
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

  /** @param relayDisk what lies between the relay and its storage, where that is to fail. */
  static async begin(
    seed: number,
    storage: RelayStorage,
    devices: number,
    relayDisk?: RelayDisk,
  ): Promise<World> {
    const world = new World(seed, storage, relayDisk);
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

  /** The next of the moments by which what happened is ordered. */
  moment(): number {
    this.#moment += 1;
    return this.#moment;
  }

  async startRelay(): Promise<void> {
    if (this.#core !== undefined) return;
    this.#relays += 1;
    const relay = this.#relays;
    const opened = this.#relayDisk?.opened(() => relay === this.#relays && this.#relayDied());
    this.#killCore = opened?.kill ?? (() => {});
    const random = this.random.fork(`relay ${relay}`);
    const core = await startCore(opened?.storage ?? this.storage, this.clock, random);
    if (relay === this.#relays) this.#core = core;
  }

  /** The relay ends in good order and another one takes its storage. */
  async restartRelay(): Promise<void> {
    const core = this.#core;
    this.#core = undefined;
    this.network.dropAll();
    await core?.close();
    await this.startRelay();
  }

  /** The relay's process dies in the middle of whatever it does; another one starts after a while. */
  killRelay(): void {
    this.#killCore();
    this.#relayDied();
  }

  #relayDied(): void {
    this.#core = undefined;
    this.network.dropAll();
    this.clock.after(this.#downtimes.below(3_000), () => void this.startRelay());
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
    this.#relayDisk?.heal();
    await this.during(this.startRelay());
    for (const device of this.devices) await this.during(device.heal());
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
      if (device.second?.life.dead === false) await device.second.client.close();
      if (!device.life.dead) await device.client.close();
    }
    await this.#core?.close();
  }
}

export function textsOf(messages: readonly Message[]): string[] {
  return messages.map(textOf);
}
