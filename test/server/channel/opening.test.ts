import { expect, test } from "vitest";
import { memoryStorage } from "../../../server/storage/memory.ts";
import { faultyStorage } from "../faulty-storage.ts";
import { append, pull, remove } from "../ops.ts";
import { YjsClient } from "../yjs-client.ts";
import { base64, bring, opened, updateOf } from "./fixture.ts";

test("[P50] a channel opens for the present life of a session, and for nothing else", async () => {
  const { setup, incarnation } = await opened();
  const open = (channel: number, session: string, life: string) =>
    setup.ask({ type: "open-channel", channel, session, incarnation: life });
  expect(await open(1, "s", incarnation)).toEqual([{ type: "channel-opened", channel: 1 }]);
  expect(await open(2, "s", "another")).toMatchObject([
    { type: "channel-closed", channel: 2, code: "deleted" },
  ]);
  expect(await open(3, "none", incarnation)).toMatchObject([{ channel: 3, code: "unknown-session" }]);
  expect(await open(1, "s", incarnation)).toMatchObject([{ channel: 1, code: "malformed" }]);
  await setup.expect("ack", remove("s", "gone", incarnation));
  expect(await open(4, "s", incarnation)).toMatchObject([{ channel: 4, code: "deleted" }]);
});

test("[P50] a wrong life is told before any state is exchanged", async () => {
  const { setup, relay, join } = await opened();
  await join();
  await setup.ask({ type: "open-channel", channel: 1, session: "s", incarnation: "another" });
  setup.sayRaw(Uint8Array.of(1, 0, 0, 1, 0));
  await relay.settle();
  expect(setup.binary).toEqual([]);
});

test("[P50] a number is free again after its channel was closed, and nothing more comes on it", async () => {
  const { relay, join, exchange } = await opened();
  const { client, yjs } = await join(1);
  const other = await join(2);
  client.say({ type: "close-channel", channel: 1 });
  other.yjs.map.set("/a", 1);
  const before = client.binary.length;
  await exchange([other.yjs]);
  expect(client.binary.length).toBe(before);
  const again = await join(1, client);
  expect(again.yjs.map.get("/a")).toBe(1);
  expect(yjs.map.get("/a")).toBeUndefined();
  expect(relay.core.size.channels).toBe(1);
});

test("[H9] channels of one connection are bounded", async () => {
  const { setup, incarnation } = await opened({ limits: { maxChannelsPerSocket: 2 } });
  await setup.expect("ack", append("t", ["a"]));
  for (const channel of [1, 2]) await setup.ask({ type: "open-channel", channel, session: "s", incarnation });
  const third = await setup.ask({ type: "open-channel", channel: 3, session: "s", incarnation });
  expect(third).toMatchObject([{ type: "channel-closed", code: "limit-reached" }]);
});

test("[C2] fifty clients that join during a slow load cause one load, and all see the content", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const limits = { maxSocketsPerActor: 51 };
  const { relay, setup, head, incarnation, exchange } = await opened({ storage, limits });
  const state = base64(updateOf("/plan", "kept"));
  await setup.expect("ack", append("s", ["b"], { base: head, state }));
  faults.holdLoads = () => new Promise((resolve) => relay.clock.after(500, resolve));
  faults.loads = 0;
  const clients = await Promise.all(Array.from({ length: 50 }, () => relay.client()));
  for (const client of clients) client.say({ type: "open-channel", channel: 1, session: "s", incarnation });
  const docs = clients.map((client) => new YjsClient(client, 1));
  for (const yjs of docs) yjs.sync();
  await relay.clock.advance(499);
  expect(clients.flatMap((client) => client.of("channel-opened"))).toEqual([]);
  await relay.clock.advance(1);
  await exchange(docs);
  expect(docs.map((yjs) => yjs.map.get("/plan"))).toEqual(Array(50).fill("kept"));
  expect(faults.loads).toBe(1);
});

test("[C1] storage that fails on load gives a retryable answer, and nothing empty is stored over what is there", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, setup, head, incarnation, stored, join } = await opened({ storage });
  await setup.expect("ack", append("s", ["b"], { base: head, state: base64(updateOf("/plan", "kept")) }));
  const before = await stored();
  faults.failReads = true;
  const client = await relay.client("ann").catch(() => undefined);
  expect(client?.frames).toMatchObject([{ type: "fault", code: "try-again" }]);
  const answer = await setup.ask({ type: "open-channel", channel: 1, session: "s", incarnation });
  expect(answer).toMatchObject([{ type: "channel-closed", code: "try-again" }]);
  setup.sayRaw(Uint8Array.of(1, ...bring(updateOf("/plan", "empty"))));
  expect(await setup.ask(pull("s", incarnation))).toMatchObject([
    { type: "not-answered", code: "try-again" },
  ]);
  faults.failReads = false;
  expect(await stored()).toEqual(before);
  const { yjs } = await join();
  expect(yjs.map.get("/plan")).toBe("kept");
});
