import { localBus } from "../../server/bus/local.ts";
import { DEFAULT_LIMITS, type RelayLimits } from "../../server/limits.ts";
import { RelayCore, type RelayCoreOptions } from "../../server/relay-core.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import type { Client } from "../../src/client.ts";
import type { Tabs } from "../../src/env/tabs.ts";
import { createMessage, type Message, textOf } from "../../src/model/message.ts";
import { type ClientOptions, openClient } from "../../src/open-client.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import type { LocalDatabase } from "../../src/store/database.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { type TestEnvironment, testEnvironment } from "../../src/testing/environment.ts";
import type { TestCable, TestFrame } from "../../src/testing/network.ts";
import { TestPage } from "../../src/testing/page.ts";
import { ACTOR, type Device, SESSION } from "../sim/device.ts";
import { World } from "../sim/world.ts";

/** A world with its devices by name, whose clients have connected. */
export async function begin(
  devices: number,
  storage: RelayStorage = memoryStorage(),
): Promise<{ world: World; a: Device; b: Device }> {
  const world = await World.begin(1, storage, devices);
  await world.clock.advance(100);
  const [a, b = a] = world.devices;
  if (a === undefined || b === undefined) throw new Error("A world needs a device");
  return { world, a, b };
}

/** Puts a relay of another kind in the place of the world's own, on the same storage or one of its own. */
export async function replaceRelay(
  world: World,
  options: Partial<Pick<RelayCoreOptions, "authenticate" | "storage">> & { limits?: Partial<RelayLimits> },
): Promise<RelayCore> {
  const { clock, network, random } = world;
  const reporter = { report: () => {} };
  const core = await RelayCore.open({
    environment: { clock, random: random.fork("another relay"), reporter },
    storage: options.storage ?? world.storage,
    bus: localBus(),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    ...(options.authenticate === undefined ? {} : { authenticate: options.authenticate }),
  });
  network.dropAll();
  network.accept = (socket, url) => core.accept(socket, { url });
  return core;
}

/** A client beside the world's devices: another tab of a profile, another actor, or one with a token. */
export interface Tab {
  readonly client: Client;
  readonly session: SyncedSession;
  readonly database: MemoryDatabase<SyncRows>;
  readonly cable: TestCable;
  readonly env: TestEnvironment;
}

let tabs = 0;

export async function openTab(
  world: World,
  given: {
    readonly disk?: MemoryDisk;
    readonly tabs?: Tabs;
    readonly cable?: TestCable;
    readonly options?: Partial<ClientOptions>;
    readonly wrap?: (database: MemoryDatabase<SyncRows>) => LocalDatabase<SyncRows>;
  } = {},
): Promise<Tab> {
  const cable = given.cable ?? world.network.cable();
  const env = testEnvironment({
    clock: world.clock,
    page: new TestPage(),
    sockets: cable,
    tabs: given.tabs,
    seed: 50_000 + ++tabs,
  });
  const database = new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk: given.disk ?? new MemoryDisk() });
  const client = await openClient(
    { url: "ws://relay", actorId: ACTOR, ...given.options },
    { env, database: given.wrap?.(database) ?? database },
  );
  return { client, session: client.session(SESSION), database, cable, env };
}

export function say(text: string): Message {
  return createMessage({ role: "user", content: text });
}

export async function textsIn(session: SyncedSession): Promise<string[]> {
  return (await session.history()).map(textOf);
}

/** The text frames of a cable that have the type, as objects, in the order they were sent. */
export function watchFrames(cable: TestCable): { frames: Frame[]; bytes: { sent: number } } {
  const frames: Frame[] = [];
  const bytes = { sent: 0 };
  cable.watch(({ direction, data }: TestFrame) => {
    bytes.sent += data.length;
    if (typeof data === "string") frames.push({ direction, ...JSON.parse(data) });
  });
  return { frames, bytes };
}

export interface Frame {
  readonly direction: "up" | "down";
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Loses the connection each time an answer of the kind leaves the relay for the first time for its op. */
export function loseEachAnswerOnce(
  cable: TestCable,
  kinds: readonly string[] = ["ack", "refusal"],
): Set<string> {
  const lost = new Set<string>();
  cable.watch(({ direction, data }) => {
    if (direction !== "down" || typeof data !== "string") return;
    const frame = JSON.parse(data) as { type: string; opId?: string };
    if (!kinds.includes(frame.type) || frame.opId === undefined || lost.has(frame.opId)) return;
    lost.add(frame.opId);
    cable.drop();
  });
  return lost;
}

/** Every row of every table. */
export function rowsOf(database: LocalDatabase<SyncRows>): Promise<Record<string, readonly object[]>> {
  const tables = Object.keys(SYNC_SCHEMA) as (keyof SyncRows)[];
  return database.read(tables, async (tx) => {
    const rows: Record<string, readonly object[]> = {};
    for (const table of tables) rows[table] = await tx.list(table);
    return rows;
  });
}
