import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { applyUpdate, Doc } from "yjs";
import { COMPACT_AT_UPDATES } from "../../../server/channel/compaction.ts";
import { StateDocument } from "../../../server/channel/state-document.ts";
import type { RelayStorage } from "../../../server/storage/contract.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";
import { append } from "../ops.ts";
import { type TestRelay, testRelay } from "../raw-client.ts";
import { YjsClient } from "../yjs-client.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-many-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OPEN_MS = 500;
/** Time of this process's own, so that what else runs on the machine does not count. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** A relay process on this file. */
async function relayOn(name: string, seed = 1): Promise<{ relay: TestRelay; storage: RelayStorage }> {
  const storage = sqliteStorage({ path: join(folder, name), durability: "process" });
  return { relay: await testRelay({ storage, seed }), storage };
}

async function held(storage: RelayStorage): Promise<{ rows: number; bytes: number }> {
  const loaded = await storage.loadState({ actor: "ann", session: "s", incarnation: null });
  if ("absent" in loaded) throw new Error(loaded.absent);
  return { rows: loaded.updates.length, bytes: loaded.updates.reduce((sum, { length }) => sum + length, 0) };
}

/** A device that opens the session's state, and how long that took: from the question to the whole state. */
async function open(relay: TestRelay, incarnation: string) {
  const client = await relay.client();
  const fromMs = cpuMs();
  client.say({ type: "open-channel", channel: 1, session: "s", incarnation });
  await relay.settle();
  const yjs = new YjsClient(client, 1);
  yjs.sync();
  await relay.settle();
  yjs.receive();
  await relay.settle();
  return { client, yjs, tookMs: cpuMs() - fromMs };
}

/** Makes changes, each an update of its own, and lets them arrive as often as told. */
async function churn(
  relay: TestRelay,
  { client, yjs }: Awaited<ReturnType<typeof open>>,
  how: { times: number; settleEvery: number; change: (n: number, yjs: YjsClient) => void },
): Promise<void> {
  for (let n = 0; n < how.times; n += 1) {
    how.change(n, yjs);
    if (n % how.settleEvery !== 0) continue;
    await relay.settle();
    client.binary.length = 0;
    client.frames.length = 0;
    client.order.length = 0;
  }
  await relay.settle();
}

const contentOf = ({ map, doc }: YjsClient): unknown => [
  map.toJSON(),
  Array.from({ length: 100 }, (_, n) => doc.getArray(listName(n)).toJSON()),
];

const listName = (n: number): string => `/list${n % 100}`;

const kinds: readonly [string, (n: number, yjs: YjsClient) => void][] = [
  ["of a hundred keys", (n, yjs) => void yjs.map.set(`/key${n % 100}`, n)],
  ["at the ends of a hundred lists", (n, yjs) => yjs.doc.getArray(listName(n)).push([n])],
];

test.each(kinds)(
  "[C14] fifty thousand small updates %s: the session opens in under 500 ms, and ten reloads add no rows",
  async (kind, change) => {
    const name = `${kind.replaceAll(" ", "-")}.db`;
    const first = await relayOn(name);
    const setup = await first.relay.client();
    const { incarnation } = await setup.expect("ack", append("s", ["a"]));
    setup.drop();
    const device = await open(first.relay, incarnation);
    await churn(first.relay, device, { times: 50_000, settleEvery: 20, change });
    await first.relay.core.close();

    const content = contentOf(device.yjs);
    const rows: number[] = [];
    for (let reload = 0; reload < 10; reload += 1) {
      const { relay, storage } = await relayOn(name, reload + 2);
      const { yjs, tookMs } = await open(relay, incarnation);
      expect(tookMs).toBeLessThan(OPEN_MS);
      expect(contentOf(yjs)).toEqual(content);
      rows.push((await held(storage)).rows);
      await relay.core.close();
    }
    expect(rows[0]).toBeLessThanOrEqual(COMPACT_AT_UPDATES);
    expect(new Set(rows).size).toBe(1);
  },
  120_000,
);

test("[C14] fifty thousand updates that were never compacted load in under 500 ms as well", () => {
  const doc = new Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (let n = 0; n < 50_000; n += 1) doc.getMap("state").set(`/key${n % 100}`, n);
  const fromMs = cpuMs();
  const document = new StateDocument();
  expect(document.load(updates)).toBe(0);
  expect(cpuMs() - fromMs).toBeLessThan(OPEN_MS);
  const read = new Doc();
  applyUpdate(read, document.since());
  expect(read.getMap("state").toJSON()).toEqual(doc.getMap("state").toJSON());
  document.destroy();
});

test("[C48] a hundred thousand set and delete on one key: bytes and the time to open stay what they were", async () => {
  const { relay, storage } = await relayOn("one-key.db");
  const setup = await relay.client();
  const { incarnation } = await setup.expect("ack", append("s", ["a"]));
  setup.drop();
  const device = await open(relay, incarnation);
  const change = (n: number, yjs: YjsClient): void => {
    if (n % 2 === 0) yjs.map.set("/key", n);
    else yjs.map.delete("/key");
  };
  const sizes: { rows: number; bytes: number }[] = [];
  for (let tenth = 0; tenth < 10; tenth += 1) {
    await churn(relay, device, { times: 10_000, settleEvery: 64, change });
    sizes.push(await held(storage));
  }
  device.yjs.map.set("/key", "last");
  await relay.settle();
  device.client.drop();
  for (const { rows, bytes } of sizes) {
    expect(rows).toBeLessThanOrEqual(COMPACT_AT_UPDATES);
    // Rows of up to sixty-four changes each, until they are merged into next to nothing.
    expect(bytes).toBeLessThan(COMPACT_AT_UPDATES * 64 * 40);
  }
  const late = await open(relay, incarnation);
  expect(late.yjs.map.toJSON()).toEqual({ "/key": "last" });
  expect(late.tookMs).toBeLessThan(OPEN_MS);
}, 120_000);
