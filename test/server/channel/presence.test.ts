import { expect, test } from "vitest";
import { append, edit } from "../ops.ts";
import { YjsClient } from "../yjs-client.ts";
import { opened, presence } from "./fixture.ts";

test("[P51] presence reaches everyone on the channel, newcomers too, and goes with its sender", async () => {
  const { relay, join, exchange } = await opened();
  const [one, two] = [await join(1), await join(2)];
  const here = presence([7, 1, '{"name":"ann"}']);
  one.client.sayRaw(Uint8Array.of(1, ...here));
  await exchange([one.yjs, two.yjs]);
  expect(two.yjs.presence).toEqual([here]);
  // Stock clients take thirty seconds of silence for a dead connection, and talk of themselves every fifteen.
  expect(one.yjs.presence).toEqual([here]);
  const late = await join(3);
  expect(late.yjs.presence).toEqual([here]);
  one.client.drop();
  await exchange([two.yjs, late.yjs]);
  for (const { yjs } of [two, late]) expect(yjs.presence.at(-1)).toEqual(presence([7, 2, "null"]));
  const later = await join(4);
  expect(later.yjs.presence).toEqual([]);
  expect(relay.core.size.channels).toBe(1);
});

test("[P51] who says again what was heard does not become whose word it is: its sender's end is told", async () => {
  const { join, exchange } = await opened();
  const [one, two] = [await join(1), await join(2)];
  const here = presence([7, 1, '{"name":"ann"}']);
  one.client.sayRaw(Uint8Array.of(1, ...here));
  await exchange([one.yjs, two.yjs]);
  two.client.sayRaw(Uint8Array.of(2, ...here));
  await exchange([one.yjs, two.yjs]);
  one.client.drop();
  await exchange([two.yjs]);
  expect(two.yjs.presence.at(-1)).toEqual(presence([7, 2, "null"]));
});

test("[P51] presence can be asked for", async () => {
  const { relay, join, exchange } = await opened();
  const [one, two] = [await join(1), await join(2)];
  const here = presence([7, 1, "{}"]);
  one.client.sayRaw(Uint8Array.of(1, ...here));
  await relay.settle();
  two.client.sayRaw(Uint8Array.of(2, 3));
  await exchange([two.yjs]);
  expect(two.yjs.presence).toEqual([here, here]);
});

test("[H9] presence is bounded in bytes and in clients behind one channel", async () => {
  const { relay, join } = await opened({ limits: { maxPresenceBytes: 2_000 } });
  const [large, crowd] = [await join(1), await join(2)];
  large.client.sayRaw(Uint8Array.of(1, ...presence([1, 1, JSON.stringify("x".repeat(2_000))])));
  const many = Array.from({ length: 65 }, (_, n) => [n, 1, "{}"] as [number, number, string]);
  crowd.client.sayRaw(Uint8Array.of(2, ...presence(...many)));
  await relay.settle();
  expect(large.client.of("channel-closed")).toMatchObject([{ code: "too-large" }]);
  expect(crowd.client.of("channel-closed")).toMatchObject([{ code: "limit-reached" }]);
});

test("[H8] another actor's channel of a session of the same name shares nothing", async () => {
  const { relay, join, exchange } = await opened();
  const ann = await join(1);
  const bob = await relay.client("bob");
  const { incarnation } = await bob.expect("ack", append("s", ["b"]));
  await bob.ask({ type: "open-channel", channel: 1, session: "s", incarnation });
  const theirs = new YjsClient(bob, 1);
  theirs.sync();
  ann.yjs.map.set("/private", 1);
  ann.client.sayRaw(Uint8Array.of(1, ...presence([7, 1, "{}"])));
  await exchange([ann.yjs, theirs]);
  expect(theirs.map.size).toBe(0);
  expect(theirs.presence).toEqual([]);
  expect(bob.of("push")).toEqual([]);
  await bob.expect("ack", edit("s", "e", { archived: true }));
  expect(ann.client.of("push").map(({ entry }) => entry.archived)).not.toContain(true);
});
