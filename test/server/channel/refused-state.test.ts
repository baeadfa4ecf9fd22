import { expect, test } from "vitest";
import { applyUpdate, Doc, encodeStateAsUpdate } from "yjs";
import { compactSession } from "../../../server/channel/compaction.ts";
import { append, pull, remove } from "../ops.ts";
import { YjsClient } from "../yjs-client.ts";
import { backwardDeletes, base64, bring, opened, presence, updateOf } from "./fixture.ts";

test.each<[string, Uint8Array]>([
  ["bytes that are no update", Uint8Array.of(1, 2, 3, 4)],
  ["an update cut short", updateOf("/a", "x".repeat(50)).slice(0, 30)],
  [
    "a count that promises 2^50 structs",
    Uint8Array.of(1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0),
  ],
  ["32 million structs promised in few bytes", Uint8Array.of(1, 0x80, 0x80, 0x80, 0x10, 1, 0, 4, 1, 0)],
])("[C47] %s: the sender is told, nobody else receives it, the channel lives on", async (_, update) => {
  const { relay, join, exchange, stored } = await opened();
  const [bad, good] = [await join(1), await join(2)];
  const before = await stored();
  const received = good.client.binary.length;
  bad.client.sayRaw(Uint8Array.of(1, ...bring(update)));
  await relay.settle();
  expect(bad.client.of("channel-closed")).toMatchObject([{ channel: 1, code: "invalid-state" }]);
  expect(good.client.binary.length).toBe(received);
  expect(await stored()).toEqual(before);
  good.yjs.map.set("/a", 1);
  await exchange([good.yjs]);
  const late = await join(3);
  expect(late.yjs.map.get("/a")).toBe(1);
});

/** A text of one client, and an update that takes far longer than its bytes would let one think. */
function slowPair(): { text: Uint8Array; deletes: Uint8Array; whole: Uint8Array } {
  const doc = new Doc();
  doc.clientID = 7;
  doc.getText("text").insert(0, "x".repeat(300_000));
  const text = encodeStateAsUpdate(doc);
  const deletes = backwardDeletes(7, 299_000, 40_000);
  // The structs of the one, and behind them the deletes of the other.
  return { text, deletes, whole: Buffer.concat([text.subarray(0, -1), deletes.subarray(1)]) };
}

test.each<["whole" | "in two"]>([["whole"], ["in two"]])(
  "[C47, P53] an update that explodes when applied, %s: bounded time, the sender is told the limit, nobody else receives it, and nothing of it is kept",
  async (how) => {
    const { relay, join, exchange, stored } = await opened({ limits: { stateCheckMs: 100 } });
    const [bad, good] = [await join(1), await join(2)];
    const { text, deletes, whole } = slowPair();
    if (how === "in two") bad.client.sayRaw(Buffer.concat([Uint8Array.of(1), bring(text)]));
    await exchange([good.yjs]);
    const before = await stored();
    const received = good.client.binary.length;
    const began = performance.now();
    bad.client.sayRaw(Buffer.concat([Uint8Array.of(1), bring(how === "whole" ? whole : deletes)]));
    await relay.settle();
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(bad.client.of("channel-closed")).toMatchObject([
      { channel: 1, code: "too-large", message: "The limit stateCheckMs is 100" },
    ]);
    expect(good.client.binary.length).toBe(received);
    expect(await stored()).toEqual(before);
    good.yjs.map.set("/a", 1);
    await exchange([good.yjs]);
    const late = await join(3);
    expect(late.yjs.map.get("/a")).toBe(1);
    expect(late.yjs.doc.getText("text").length).toBe(how === "whole" ? 0 : 300_000);
  },
);

test("[C47, P23] likewise in an op: refused with the limit's name, and nothing is stored", async () => {
  const { setup, head, stored } = await opened({ limits: { stateCheckMs: 100 } });
  const before = await stored();
  const state = base64(slowPair().whole);
  const refused = await setup.expect("refusal", append("s", ["b"], { base: head, state }));
  expect(refused).toMatchObject({ code: "too-large", limit: { name: "stateCheckMs", max: 100 } });
  expect(await stored()).toEqual(before);
});

test.each<[string, Uint8Array]>([
  ["an unknown message", Uint8Array.of(5, 1)],
  ["the message type of y-websocket's auth", Uint8Array.of(2, 0)],
  ["a sync message of no kind", Uint8Array.of(0, 9, 1, 0)],
  ["a sync message cut short", Uint8Array.of(0, 2, 50, 1)],
  ["a sync message with something behind it", Uint8Array.of(0, 0, 1, 0, 7)],
  ["a state vector that is none", Uint8Array.of(0, 0, 3, 0xff, 0xff, 0xff)],
  ["presence that is none", Uint8Array.of(1, 2, 9, 9)],
  ["presence that is no JSON", presence([1, 1, "{"])],
])("[P51] %s closes the channel as malformed, and nothing else", async (_, message) => {
  const { relay, join, stored } = await opened();
  const [bad, good] = [await join(1), await join(2)];
  const before = await stored();
  bad.client.sayRaw(Uint8Array.of(1, ...message));
  await relay.settle();
  expect(bad.client.of("channel-closed")).toMatchObject([{ channel: 1, code: "malformed" }]);
  expect(good.client.of("channel-closed")).toEqual([]);
  expect(await stored()).toEqual(before);
  await bad.client.expect("pong", { type: "ping", id: 1 });
});

test("[P53] state over its limit closes its sender's channel alone, and what fits is kept", async () => {
  const { join, exchange, stored } = await opened({ limits: { maxStateBytes: 1_000 } });
  const [big, small] = [await join(1), await join(2)];
  small.yjs.map.set("/small", 1);
  big.yjs.map.set("/big", "x".repeat(900));
  small.yjs.map.set("/more", 2);
  await exchange([small.yjs, big.yjs]);
  big.yjs.map.set("/bigger", "x".repeat(300));
  small.yjs.map.set("/last", 3);
  await exchange([small.yjs]);
  expect(big.client.of("channel-closed")).toMatchObject([{ code: "too-large" }]);
  expect(small.client.of("channel-closed")).toEqual([]);
  const late = await join(3);
  expect([...late.yjs.map.keys()].sort()).toEqual(["/big", "/last", "/more", "/small"]);
  expect([...small.yjs.map.keys()].sort()).toEqual(["/big", "/last", "/more", "/small"]);
  expect((await stored()) as object).toHaveProperty("updates");
});

test("[C48] what was set and deleted again falls away before state counts as too large", async () => {
  const { join, exchange, stored } = await opened({ limits: { maxStateBytes: 20_000 } });
  const { client, yjs } = await join();
  for (let n = 0; n < 2_000; n += 1) {
    yjs.map.set("/x", `${n}`.padEnd(50, "."));
    if (n % 50 === 0) await exchange([yjs]);
  }
  await exchange([yjs]);
  expect(client.of("channel-closed")).toEqual([]);
  const loaded = await stored();
  const bytes = typeof loaded === "string" ? 0 : loaded.updates.reduce((sum, one) => sum + one.byteLength, 0);
  expect(bytes).toBeLessThan(20_000);
  const late = await join(2);
  expect(late.yjs.map.get("/x")).toBe("1999".padEnd(50, "."));
});

test("[P35] five hundred updates are compacted into one, and the state is the same", async () => {
  const { relay, join, exchange, stored } = await opened();
  const { yjs } = await join();
  for (let n = 0; n < 520; n += 1) {
    yjs.map.set(`/${n % 20}`, n);
    await relay.settle();
  }
  await exchange([yjs]);
  const loaded = await stored();
  expect(typeof loaded === "string" ? [] : loaded.updates.length).toBeLessThan(40);
  const late = await join(2);
  expect(late.yjs.map.toJSON()).toEqual(yjs.map.toJSON());
  const page = await late.client.expect("page", pull("s", null, { stateCursor: 3 }));
  const doc = new YjsClient(late.client).doc;
  expect(page.stateCursor).toBe(520);
  expect(doc.getMap("state").size).toBe(0);
});

test("[P28] a delete closes the session's channels as deleted", async () => {
  const { relay, setup, incarnation, join } = await opened();
  const { client, yjs } = await join();
  await setup.expect("ack", remove("s", "gone", incarnation));
  expect(client.of("channel-closed")).toMatchObject([{ channel: 1, code: "deleted" }]);
  yjs.map.set("/a", 1);
  await relay.settle();
  expect(relay.core.size.channels).toBe(0);
  expect(await relay.storage.loadState({ actor: "ann", session: "s", incarnation: null })).toEqual({
    absent: "deleted",
  });
});

test("[C48] likewise in ops: state that fits once it is compacted is accepted, and what does not is refused", async () => {
  const { relay, setup, head, stored } = await opened({ limits: { maxStateBytes: 4_000 } });
  const doc = new Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  let base = head;
  for (let n = 0; n < 40; n += 1) {
    doc.getMap("state").set("/x", `${n}`.padEnd(500, "."));
    const op = append("s", [`m${n}`], { base, state: base64(updates[n] ?? new Uint8Array()) });
    base = (await setup.expect("ack", op)).head;
  }
  const loaded = await stored();
  const bytes = typeof loaded === "string" ? 0 : loaded.updates.reduce((sum, one) => sum + one.byteLength, 0);
  expect(bytes).toBeLessThanOrEqual(4_000);
  doc.getMap("state").set("/y", "y".repeat(3_900));
  const over = append("s", ["over"], { base, state: base64(updates[40] ?? new Uint8Array()) });
  expect(await setup.expect("refusal", over)).toMatchObject({
    code: "too-large",
    limit: { name: "maxStateBytes", max: 4_000 },
  });
  await relay.settle();
});

test("[C14] compaction keeps what still waits for updates before it", async () => {
  const { relay, setup, incarnation, head } = await opened();
  const doc = new Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (const n of [1, 2, 3]) doc.getMap("state").set("/n", n);
  const [first, second, third] = updates.map(base64);
  const { head: next } = await setup.expect("ack", append("s", ["b"], { base: head, state: third }));
  const { head: last } = await setup.expect("ack", append("s", ["c"], { base: next, state: second }));
  expect(await compactSession(relay.storage, { actor: "ann", session: "s" })).toBe("done");
  await setup.expect("ack", append("s", ["d"], { base: last, state: first }));
  const page = await setup.expect("page", pull("s", incarnation));
  const whole = new Doc();
  for (const update of page.state) applyUpdate(whole, Buffer.from(update, "base64"));
  expect(whole.getMap("state").get("/n")).toBe(3);
});
