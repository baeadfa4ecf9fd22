import { expect, test } from "vitest";
import { MAX_JSON_DEPTH } from "../../src/model/json.ts";
import { cutIntoParts } from "../../src/wire/codec.ts";
import { append, message, pull } from "./ops.ts";
import { opKinds, stocked } from "./stocked-relay.ts";

const base = { generation: 0, count: 1, lastId: "a" };

test("[P10] a message over its limit is refused with the limit named, by its UTF-8 bytes", async () => {
  const { client, unchanged } = await stocked({ maxMessageBytes: 1_000 });
  const fits = message("b", "é".repeat(400));
  const bytes = new TextEncoder().encode(JSON.stringify(fits)).length;
  expect(bytes).toBeLessThanOrEqual(1_000);
  const over = message("b", "é".repeat(500));
  const refusal = await client.expect("refusal", {
    ...append("s", [], { base, opId: "1" }),
    messages: [over],
  });
  expect(refusal).toMatchObject({ code: "too-large", limit: { name: "maxMessageBytes", max: 1_000 } });
  await unchanged();
  await client.expect("ack", { ...append("s", [], { base, opId: "2" }), messages: [fits] });
});

test("[C49] a frame over its limit ends the connection once, with the limit named", async () => {
  const { relay, client, unchanged } = await stocked({ maxFrameBytes: 2_000 });
  client.say({ ...append("s", [], { base }), messages: [message("b", "x".repeat(2_000))] });
  await relay.settle();
  expect(client.frames.at(-1)).toMatchObject({
    type: "fault",
    code: "too-large",
    limit: { name: "maxFrameBytes", max: 2_000 },
  });
  expect(client.closed).toEqual({ code: 4413, reason: "too-large" });
  await unchanged();
});

test("[C49] a binary frame holds a whole state and no more", async () => {
  const { relay, client } = await stocked({ maxFrameBytes: 2_000, maxStateBytes: 3_000 });
  client.sayRaw(new Uint8Array(3_000 + 1_024));
  await relay.settle();
  expect(client.closed).toBeUndefined();
  client.sayRaw(new Uint8Array(3_000 + 1_025));
  await relay.settle();
  const limit = { name: "maxStateBytes", max: 3_000 };
  expect(client.frames.at(-1)).toMatchObject({ type: "fault", code: "too-large", limit });
  expect(client.closed?.code).toBe(4413);
});

test("[P11] an op in parts is one op", async () => {
  const { client } = await stocked({ maxFrameBytes: 2_000 });
  const op = append("s", [], { base, opId: "big" });
  const messages = Array.from({ length: 20 }, (_, n) => message(`m${n}`, `💥${"\ud83d\ude00".repeat(50)}`));
  const parts = cutIntoParts("p", JSON.stringify({ ...op, messages }), 2_000);
  expect(parts.length).toBeGreaterThan(5);
  for (const part of parts.slice(0, -1)) expect(await client.ask(part)).toEqual([]);
  const ack = await client.expect("ack", parts.at(-1) as never);
  expect(ack).toMatchObject({ opId: "big", added: 20, head: { count: 21 } });
  const page = await client.expect("page", pull("s", null, { have: base }));
  expect(page.messages[0]?.message).toEqual(messages[0]);
});

test("[P11] an interrupted series is forgotten, and what follows of it is malformed", async () => {
  const { client, unchanged } = await stocked({ maxFrameBytes: 2_000 });
  const parts = cutIntoParts("p", JSON.stringify({ ...opKinds.append, pad: "x".repeat(3_000) }), 2_000);
  await client.ask(parts[0] as never);
  await client.expect("pong", { type: "ping", id: 1 });
  await client.ask(parts[1] as never);
  expect(client.closed?.code).toBe(4400);
  await unchanged();
});

test.each([
  ["out of order", [0, 2]],
  ["without a beginning", [1]],
  ["past its end", [9]],
])("[P11] parts %s are malformed", async (_, indexes) => {
  const { client, unchanged } = await stocked();
  for (const index of indexes) await client.ask({ type: "part", id: "p", index, of: 3, text: "x" });
  expect(client.closed?.code).toBe(4400);
  await unchanged();
});

test("[P11] a new series takes the place of one that was interrupted", async () => {
  const { client } = await stocked({ maxFrameBytes: 2_000 });
  const parts = cutIntoParts("p", JSON.stringify({ ...opKinds.append, pad: "x".repeat(3_000) }), 2_000);
  await client.ask(parts[0] as never);
  const again = parts.map((part) => ({ ...part, id: "q" }));
  for (const part of again.slice(0, -1)) await client.ask(part);
  await client.expect("ack", again.at(-1) as never);
});

test("[P10] an op over its limit is refused by name when it came in parts, and the connection goes on", async () => {
  const { client, unchanged } = await stocked({ maxFrameBytes: 2_000, maxOpBytes: 5_000 });
  const op = { ...append("s", [], { base, opId: "big" }), messages: [message("b", "x".repeat(9_000))] };
  const answers = [];
  for (const part of cutIntoParts("p", JSON.stringify(op), 2_000)) answers.push(...(await client.ask(part)));
  expect(answers).toMatchObject([
    {
      type: "refusal",
      opId: "big",
      session: "s",
      code: "too-large",
      limit: { name: "maxOpBytes", max: 5_000 },
    },
  ]);
  await unchanged();
  await client.expect("ack", opKinds.append);
});

test("[P10] an op nested deeper than JSON may be is refused by a named limit, however deep", async () => {
  const { client, unchanged } = await stocked();
  for (const depth of [MAX_JSON_DEPTH + 1, 10_000, 100_000]) {
    const deep = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const text = JSON.stringify({ ...append("s", ["b"], { base, opId: `deep-${depth}` }) });
    client.sayRaw(text.replace('"metadata":{}', `"metadata":${deep}`));
    await client.expect("pong", { type: "ping", id: depth });
    expect(client.of("refusal").at(-1)).toMatchObject({
      opId: `deep-${depth}`,
      code: "too-large",
      limit: { name: "maxDepth", max: 500 },
    });
  }
  await unchanged();
});

test("[P23] state that does not decode is refused, and nothing of its op is left", async () => {
  const { client, unchanged } = await stocked();
  for (const state of ["AQID", Buffer.from(new Uint8Array(500).fill(255)).toString("base64")]) {
    const refusal = await client.expect("refusal", { ...opKinds.append, opId: state.slice(0, 9), state });
    expect(refusal.code).toBe("invalid-state");
  }
  await unchanged();
});
