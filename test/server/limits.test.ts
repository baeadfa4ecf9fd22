import { expect, test } from "vitest";
import { DEFAULT_LIMITS, limitsWith } from "../../server/limits.ts";
import { append, EMPTY, pull } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

test("[H9] every limit has its documented default", () => {
  expect(DEFAULT_LIMITS).toMatchObject({
    maxMessageBytes: 1_048_576,
    maxFrameBytes: 4_194_304,
    maxOpBytes: 67_108_864,
    pageMessages: 500,
    maxStateBytes: 5_242_880,
    maxBufferedBytes: 8_388_608,
    maxSocketsPerActor: 50,
    maxSessionsPerActor: 100_000,
    authTimeoutMs: 10_000,
  });
  expect(limitsWith({ pageMessages: 7, maxFrameBytes: undefined as never })).toEqual({
    ...DEFAULT_LIMITS,
    pageMessages: 7,
  });
});

test.each([
  ["pageMessage", 1, "limits.pageMessage"],
  ["pageMessages", 0, "limits.pageMessages"],
  ["pageMessages", 1.5, "limits.pageMessages"],
  ["pageMessages", Number.NaN, "limits.pageMessages"],
  ["pageMessages", "7", "limits.pageMessages"],
  ["__proto__", 1, "limits.__proto__"],
])("[H9] the limit %s of %s is refused by name", (name, value, path) => {
  const given = JSON.parse(
    `{${JSON.stringify(name)}: ${typeof value === "string" ? `"${value}"` : Number.isNaN(value) ? "null" : value}}`,
  );
  expect(() => limitsWith(given)).toThrow(expect.objectContaining({ code: "invalid-input", path }));
});

test("[H9] sockets of one actor are bounded, and one that leaves makes room", async () => {
  const relay = await testRelay({ limits: { maxSocketsPerActor: 2 } });
  const first = await relay.client();
  await relay.client();
  const third = await relay.client();
  expect(third.frames).toMatchObject([
    { type: "fault", code: "limit-reached", limit: { name: "maxSocketsPerActor", max: 2 } },
  ]);
  expect(third.closed?.code).toBe(4429);
  expect((await relay.client("bob")).of("welcome")).toHaveLength(1);
  first.drop();
  expect((await relay.client()).of("welcome")).toHaveLength(1);
});

test("[H9] sessions of one actor are bounded, and the refusal names the limit", async () => {
  const relay = await testRelay({ limits: { maxSessionsPerActor: 1 } });
  const client = await relay.client();
  await client.expect("ack", append("1", ["a"]));
  const refusal = await client.expect("refusal", append("2", ["b"]));
  expect(refusal).toMatchObject({ code: "limit-reached", limit: { name: "maxSessionsPerActor", max: 1 } });
  await client.expect("ack", append("1", ["b"], { base: { generation: 0, count: 1, lastId: "a" } }));
});

test("[C44] a reader that stops reading is dropped with try-again, and catches up without a gap", async () => {
  const relay = await testRelay({ limits: { maxBufferedBytes: 10_000 } });
  const [writer, slow] = [await relay.client(), await relay.client()];
  let base = EMPTY;
  for (let n = 0; n < 50; n += 1) {
    slow.buffered = n * 500;
    base = (await writer.expect("ack", append("s", [`m${n}`], { base }))).head;
  }
  expect(slow.frames.at(-1)).toMatchObject({ type: "fault", code: "try-again" });
  expect(slow.closed?.code).toBe(1013);
  const seen = slow.of("push").map(({ entry }) => entry.seq);
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, n) => n + 1));
  expect(seen.length).toBeLessThan(30);
  slow.drop();
  const back = await relay.client();
  const page = await back.expect("page", pull("s", null));
  expect(page.messages).toHaveLength(50);
  expect(writer.closed).toBeUndefined();
});

test("[C44] pages wait for a reader that is slow, and one that reads nothing is dropped", async () => {
  const relay = await testRelay({ limits: { maxBufferedBytes: 4_000, sendTimeoutMs: 1_000 } });
  const client = await relay.client();
  await client.expect("ack", append("s", ["a"]));
  client.buffered = 3_000;
  client.say(pull("s", null, { id: "p" }));
  await relay.clock.advance(900);
  expect(client.of("page")).toEqual([]);
  client.buffered = 2_000;
  await relay.clock.advance(900);
  expect(client.closed).toBeUndefined();
  client.buffered = 900;
  await relay.clock.advance(50);
  expect(client.of("page")).toMatchObject([{ id: "p" }]);
  client.buffered = 3_000;
  client.say(pull("s", null));
  await relay.clock.advance(1_100);
  expect(client.closed?.code).toBe(1013);
});

test("[H9] a connection that sends faster than is stored is not read until that is done", async () => {
  const relay = await testRelay({ limits: { maxQueuedFrames: 10 } });
  const client = await relay.client();
  let base = EMPTY;
  for (let n = 0; n < 20; n += 1) {
    client.say(append("s", [`m${n}`], { base }));
    base = { generation: 0, count: n + 1, lastId: `m${n}` };
    expect(client.paused).toBe(n >= 10);
  }
  await relay.settle();
  expect(client.paused).toBe(false);
  expect(client.of("ack")).toHaveLength(20);
});

test("[C5] a relay that goes down answers what is under way, and tells everyone to come again", async () => {
  const relay = await testRelay();
  const [one, two] = [await relay.client(), await relay.client("bob")];
  one.say(append("s", ["a"]));
  const closing = relay.core.close();
  one.say(append("s", ["b"], { base: { generation: 0, count: 1, lastId: "a" } }));
  await closing;
  expect(one.of("ack")).toHaveLength(1);
  for (const client of [one, two]) {
    expect(client.frames.at(-1)).toMatchObject({ type: "fault", code: "try-again" });
    expect(client.closed?.code).toBe(1013);
  }
  const late = relay.connect();
  expect(late.closed?.code).toBe(1013);
  expect(relay.clock.waiting).toBe(0);
});
