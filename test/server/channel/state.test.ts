import { expect, test } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import { memoryStorage } from "../../../server/storage/memory.ts";
import { faultyStorage } from "../faulty-storage.ts";
import { append, edit, replace } from "../ops.ts";
import { YjsClient } from "../yjs-client.ts";
import { base64, bring, opened, updateOf } from "./fixture.ts";

test("[P51] two clients converge, and a third that joins later sees the same", async () => {
  const { join, exchange } = await opened();
  const one = await join(1);
  const two = await join(9);
  one.yjs.map.set("/plan/step", 1);
  two.yjs.map.set("/plan/title", "t");
  await exchange([one.yjs, two.yjs]);
  const three = await join(3);
  for (const { yjs } of [one, two, three]) {
    expect(yjs.map.toJSON()).toEqual({ "/plan/step": 1, "/plan/title": "t" });
  }
});

test("[P52] message 64 counts the messages with updates that are durable, from the channel's opening", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, join, exchange } = await opened({ storage });
  const { yjs } = await join();
  const first = yjs.durable;
  yjs.map.set("/a", 1);
  yjs.map.set("/b", 1);
  await exchange([yjs]);
  expect(yjs.durable).toBe(first + 2);
  faults.refuse = () => true;
  yjs.map.set("/c", 1);
  await exchange([yjs]);
  expect(yjs.durable).toBe(first + 2);
  faults.refuse = () => false;
  await relay.clock.advance(1_000);
  yjs.receive();
  expect(yjs.durable).toBe(first + 3);
});

test("[P53] nobody is told of an update before it is stored, not even one who joins meanwhile", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, join, exchange } = await opened({ storage });
  const [one, two] = [await join(1), await join(2)];
  faults.refuse = (write) => write.kind === "state";
  one.yjs.map.set("/secret", 1);
  const late = await join(3);
  await exchange([one.yjs, two.yjs, late.yjs]);
  expect([two, late].map(({ yjs }) => yjs.map.has("/secret"))).toEqual([false, false]);
  faults.refuse = () => false;
  await relay.clock.advance(5_000);
  await exchange([one.yjs, two.yjs, late.yjs]);
  expect([two, late].map(({ yjs }) => yjs.map.has("/secret"))).toEqual([true, true]);
});

test("[P55] on one connection the channel is told before the push that carries the cursor", async () => {
  const { relay, join } = await opened();
  const [one, two] = [await join(1), await join(2)];
  for (const { client } of [one, two]) client.order.length = 0;
  one.yjs.map.set("/a", 1);
  await relay.settle();
  expect(two.client.order).toEqual(["binary", "push"]);
  // The sender hears that it is durable, and then the push: its change has no acknowledgement with a position.
  expect(one.client.order).toEqual(["binary", "push"]);
});

test("[P55] state in an op reaches open channels, the sender's too, before its acknowledgement", async () => {
  const { relay, join, exchange, head } = await opened();
  const [one, two] = [await join(1), await join(2)];
  for (const { client } of [one, two]) client.order.length = 0;
  one.client.say(append("s", ["b"], { base: head, state: base64(updateOf("/plan", "by op")) }));
  await relay.settle();
  expect(one.client.order).toEqual(["binary", "ack"]);
  expect(two.client.order).toEqual(["binary", "push"]);
  await exchange([one.yjs, two.yjs]);
  expect([one, two].map(({ yjs }) => yjs.map.get("/plan"))).toEqual(["by op", "by op"]);
  const next = { ...head, count: 2, lastId: "b" };
  one.client.say(replace("s", ["c"], { base: next, state: base64(updateOf("/more", 1)) }));
  await exchange([one.yjs, two.yjs]);
  expect([one, two].map(({ yjs }) => yjs.map.get("/more"))).toEqual([1, 1]);
});

test("[P55] state that commits while the channel loads reaches those who wait for it", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, setup, head, incarnation, exchange } = await opened({ storage });
  let late: (() => void) | undefined;
  const load = storage.loadState.bind(storage);
  storage.loadState = async (place) => {
    const loaded = await load(place);
    await new Promise<void>((resolve) => {
      late = resolve;
    });
    return loaded;
  };
  setup.say({ type: "open-channel", channel: 1, session: "s", incarnation });
  await relay.settle();
  await setup.expect("ack", append("s", ["b"], { base: head, state: base64(updateOf("/plan", "late")) }));
  late?.();
  const yjs = new YjsClient(setup, 1);
  yjs.sync();
  await exchange([yjs]);
  expect(yjs.map.get("/plan")).toBe("late");
  expect(faults.loads).toBe(1);
});

test("[P52] what was known already is durable at once and stored only once", async () => {
  const { join, exchange, stored } = await opened();
  const { client, yjs } = await join();
  yjs.map.set("/a", 1);
  await exchange([yjs]);
  const before = await stored();
  const count = yjs.durable;
  for (let round = 0; round < 10; round += 1)
    client.sayRaw(Uint8Array.of(1, ...bring(encodeStateAsUpdate(yjs.doc))));
  await exchange([yjs]);
  expect(yjs.durable).toBe(count + 10);
  expect(await stored()).toEqual(before);
});

test("[P53] an update whose beginning is missing is kept whole until that comes", async () => {
  const { relay, join, exchange } = await opened();
  const { client, yjs } = await join();
  const doc = new Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (const n of [1, 2, 3]) doc.getMap("state").set("/n", n);
  const [first, second, third] = updates as [Uint8Array, Uint8Array, Uint8Array];
  const durable = yjs.durable;
  for (const update of [third, second]) client.sayRaw(Uint8Array.of(1, ...bring(update)));
  await exchange([yjs]);
  expect(yjs.durable).toBe(durable + 2);
  client.drop();
  expect(relay.core.size.channels).toBe(0);
  const again = await join(1);
  again.client.sayRaw(Uint8Array.of(1, ...bring(first)));
  const third2 = await join(2);
  await exchange([again.yjs, third2.yjs]);
  expect(third2.yjs.map.get("/n")).toBe(3);
});

test("[C4] a state write fails while a client is attached, then storage heals: it is stored without another edit", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, join, exchange } = await opened({ storage });
  const { yjs } = await join();
  let failures = 3;
  faults.refuse = (write) => write.kind === "state" && failures-- > 0;
  yjs.map.set("/a", 1);
  await exchange([yjs]);
  await relay.clock.advance(2_000);
  const late = await join(2);
  expect(late.yjs.map.get("/a")).toBe(1);
});

test("[C4] likewise when the client has left meanwhile", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, join, exchange } = await opened({ storage });
  const { client, yjs } = await join();
  faults.refuse = (write) => write.kind === "state";
  yjs.map.set("/a", 1);
  await exchange([yjs]);
  client.drop();
  await relay.clock.advance(60_000);
  expect(relay.core.size.channels).toBe(1);
  faults.refuse = () => false;
  await relay.clock.advance(10_000);
  expect(relay.core.size.channels).toBe(0);
  const late = await join(2);
  expect(late.yjs.map.get("/a")).toBe(1);
});

test.each([0, 50, 400, 799, 800, 1_200])(
  "[C3] a state write takes 800 ms, and the session is opened again after %i ms: nothing is missing",
  async (delayMs) => {
    const { storage } = faultyStorage(memoryStorage());
    const { relay, join, exchange } = await opened({ storage });
    const { client, yjs } = await join();
    const apply = storage.apply.bind(storage);
    storage.apply = async (write) => {
      if (write.kind === "state") await new Promise<void>((resolve) => relay.clock.after(800, resolve));
      return apply(write);
    };
    yjs.map.set("/a", 1);
    await relay.settle();
    client.drop();
    await relay.clock.advance(delayMs);
    const again = await join(2);
    await relay.clock.advance(2_000);
    await exchange([again.yjs]);
    expect(again.yjs.map.get("/a")).toBe(1);
  },
);

test("[C45] sessions opened and closed leave no document, timer or channel behind", async () => {
  const { relay, setup } = await opened();
  for (let n = 0; n < 200; n += 1) {
    const { incarnation } = await setup.expect("ack", append(`t${n}`, ["a"]));
    setup.say({ type: "open-channel", channel: n, session: `t${n}`, incarnation });
    await relay.settle();
    const yjs = new YjsClient(setup, n);
    yjs.map.set("/a", n);
    await relay.settle();
    setup.say({ type: "close-channel", channel: n });
  }
  await relay.settle();
  expect(relay.core.size.channels).toBe(0);
  setup.drop();
  expect(relay.clock.waiting).toBe(0);
});

test("[P63] metadata is no part of the document: neither touches the other, and metadata merges leaf by leaf", async () => {
  const { relay, setup, incarnation, head, join, exchange } = await opened();
  const { client, yjs } = await join();
  yjs.map.set("/title", "of the state");
  await exchange([yjs]);
  const change = (opId: string, at: string, value: string) =>
    edit("s", opId, { incarnation, metadata: [{ at, value }] });
  client.say(change("1", "/title", "of the catalog"));
  setup.say(change("2", "/plan/step", "one"));
  await relay.settle();
  await setup.expect(
    "ack",
    append("s", ["b"], { base: head, metadata: [{ at: "/plan/next", value: "two" }] }),
  );
  await exchange([yjs]);
  expect(yjs.map.toJSON()).toEqual({ "/title": "of the state" });
  const { entries } = await client.expect("catalog-page", { type: "catalog", id: "c", cursor: 0 });
  expect(entries[0]?.metadata).toEqual({ title: "of the catalog", plan: { step: "one", next: "two" } });
  expect(entries[0]?.stateCursor).toBe(1);
});
