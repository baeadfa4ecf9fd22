import { expect, test } from "vitest";
import { localBus } from "../../server/bus/local.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { PROTOCOL_VERSION } from "../../src/wire/hello.ts";
import { append, remove } from "./ops.ts";
import { type RawClient, type TestRelay, testRelay } from "./raw-client.ts";

/** A client that reads the frames of streams. */
async function reader(relay: TestRelay, actor = "ann"): Promise<RawClient> {
  const client = relay.connect();
  const hello = { type: "hello", protocol: PROTOCOL_VERSION, actorId: actor, device: "test", streams: true };
  await client.ask(hello);
  return client;
}

function piece(at: number, text: string, more: { id?: string; session?: string; incarnation?: string } = {}) {
  return { type: "stream", id: "m", session: "s", incarnation: null, role: "assistant", at, text, ...more };
}

/** What a reader makes of the pieces of one stream, by P71. */
function textOf(client: RawClient, id = "m"): string {
  return client
    .of("stream")
    .filter((frame) => frame.id === id)
    .reduce((held, { at, text }) => (at <= held.length ? held + text.slice(held.length - at) : held), "");
}

test("[P70] frames of streams go only to those who said that they read them, and from no other", async () => {
  const relay = await testRelay();
  const [writer, old] = [await reader(relay), await relay.client()];
  expect(old.of("welcome")).toMatchObject([{ streams: true }]);
  writer.say(piece(0, "word"));
  await relay.clock.advance(1_000);
  writer.say({ type: "stream-end", id: "m", session: "s", kept: false });
  await relay.clock.advance(1_000);
  expect(old.order).toEqual(["welcome"]);
  old.say(piece(0, "word"));
  await relay.settle();
  expect(old.frames.at(-1)).toMatchObject({ type: "fault", code: "malformed" });
});

test("[P71, P72] pieces reach the actor's other connections once, gathered, in order, whatever comes twice", async () => {
  const relay = await testRelay();
  const [writer, one, other] = [await reader(relay), await reader(relay), await reader(relay, "eve")];
  for (const [at, text] of [
    [0, "ab"],
    [1, "bc"],
    [0, "abc"],
    [3, "d"],
  ] as const)
    writer.say(piece(at, text));
  await relay.clock.advance(60);
  expect(one.of("stream")).toMatchObject([{ at: 0, text: "abcd", role: "assistant", session: "s" }]);
  writer.say(piece(4, "e"));
  await relay.clock.advance(60);
  writer.say(piece(5, ""));
  await relay.clock.advance(60);
  expect(one.of("stream").slice(1)).toMatchObject([
    { at: 4, text: "e" },
    { at: 5, text: "" },
  ]);
  expect(writer.of("stream")).toEqual([]);
  expect(other.order).toEqual(["welcome"]);
});

test("[P71] behind a gap nothing is taken: the writer is asked from where the text held ends", async () => {
  const relay = await testRelay();
  const [writer, one] = [await reader(relay), await reader(relay)];
  writer.say(piece(0, "ab"));
  writer.say(piece(4, "e"));
  writer.say(piece(5, "f"));
  await relay.clock.advance(60);
  expect(writer.of("stream-ask")).toEqual([{ type: "stream-ask", id: "m", from: 2 }]);
  writer.say(piece(2, "cdef"));
  await relay.clock.advance(60);
  expect(textOf(one)).toBe("abcdef");
  // An answer that was lost is asked for again with the next sign of life.
  writer.say(piece(9, "x"));
  writer.say(piece(10, ""));
  await relay.settle();
  expect(writer.of("stream-ask").map(({ from }) => from)).toEqual([2, 6, 6]);
});

test("[P73] whoever comes late asks, and gets what runs from its beginning or from an offset", async () => {
  const relay = await testRelay();
  const writer = await reader(relay);
  writer.say(piece(0, "so far"));
  writer.say(piece(0, "another", { id: "n" }));
  await relay.clock.advance(60);
  const late = await reader(relay);
  const all = await late.ask({ type: "stream-ask" });
  expect(all).toMatchObject([
    { id: "m", at: 0, text: "so far" },
    { id: "n", at: 0, text: "another" },
  ]);
  expect(await late.ask({ type: "stream-ask", id: "m", from: 3 })).toMatchObject([
    { id: "m", at: 3, text: "far" },
  ]);
  expect(await late.ask({ type: "stream-ask", id: "gone" })).toEqual([]);
  expect(await writer.ask({ type: "stream-ask" })).toEqual([]);
});

test("[P72, P73] after a restart the relay asks the writer for what it no longer has", async () => {
  const storage = memoryStorage();
  const first = await testRelay({ storage });
  (await reader(first)).say(piece(0, "before the restart"));
  await first.core.close();
  const relay = await testRelay({ storage });
  const [writer, one] = [await reader(relay), await reader(relay)];
  writer.say(piece(18, ""));
  await relay.settle();
  expect(writer.of("stream-ask")).toMatchObject([{ id: "m", from: 0 }]);
  writer.say(piece(0, "before the restart, and behind"));
  await relay.clock.advance(60);
  expect(textOf(one)).toBe("before the restart, and behind");
});

test("[P74] an end is told once, with the last words before it, and what ended is not told to those who ask", async () => {
  const relay = await testRelay();
  const [writer, one] = [await reader(relay), await reader(relay)];
  writer.say(piece(0, "all of it"));
  writer.say({ type: "stream-end", id: "m", session: "s", kept: true });
  writer.say({ type: "stream-end", id: "m", session: "s", kept: true });
  await relay.clock.advance(60);
  expect(one.order.slice(1)).toEqual(["stream", "stream-end"]);
  expect(textOf(one)).toBe("all of it");
  expect(await one.ask({ type: "stream-ask" })).toEqual([]);
});

test("[P74] the append of its message ends a stream whose end never came", async () => {
  const relay = await testRelay();
  const [writer, one] = [await reader(relay), await reader(relay)];
  writer.say(piece(0, "text"));
  await relay.clock.advance(60);
  await writer.expect("ack", append("s", ["m"]));
  expect(one.order.slice(1)).toEqual(["stream", "push", "stream-end"]);
  expect(one.of("stream-end")).toMatchObject([{ id: "m", kept: true }]);
  expect(await one.ask({ type: "stream-ask" })).toEqual([]);
});

test("[P75] a stream outlives its connection for 30 s, goes on with the next one, and else ends with nothing kept", async () => {
  const relay = await testRelay();
  const [writer, one] = [await reader(relay), await reader(relay)];
  writer.say(piece(0, "one "));
  await relay.clock.advance(60);
  writer.drop();
  await relay.clock.advance(29_000);
  const again = await reader(relay);
  again.say(piece(4, "two"));
  await relay.clock.advance(29_000);
  expect(textOf(one)).toBe("one two");
  expect(one.of("stream-end")).toEqual([]);
  again.drop();
  await relay.clock.advance(29_990);
  expect(one.of("stream-end")).toEqual([]);
  await relay.clock.advance(20);
  expect(one.of("stream-end")).toMatchObject([{ id: "m", kept: false }]);
});

test("[P75, H9] a stream that nobody speaks of ends after 150 s, and leaves nothing behind", async () => {
  const relay = await testRelay();
  const [writer, one] = [await reader(relay), await reader(relay)];
  const waiting = relay.clock.waiting;
  writer.say(piece(0, "x"));
  await relay.clock.advance(149_000);
  expect(one.of("stream-end")).toEqual([]);
  await relay.clock.advance(1_100);
  expect(one.of("stream-end")).toMatchObject([{ kept: false }]);
  expect(relay.clock.waiting).toBe(waiting);
});

test("[P76, C43] a stream of a session that is deleted, or of none, is refused for good, and nobody sees it", async () => {
  const relay = await testRelay();
  const [writer, one] = [await reader(relay), await reader(relay)];
  const { incarnation } = await writer.expect("ack", append("s", ["a"]));
  writer.say(piece(0, "alive", { incarnation }));
  await relay.clock.advance(60);
  expect(textOf(one)).toBe("alive");
  await one.expect("ack", remove("s", "d", incarnation));
  expect(writer.of("stream-refused")).toMatchObject([{ id: "m", code: "deleted" }]);
  writer.say(piece(5, ", later", { incarnation }));
  writer.say(piece(0, "late", { id: "n", incarnation }));
  writer.say(piece(0, "x", { id: "o", session: "never", incarnation }));
  await relay.clock.advance(60);
  const codes = writer.of("stream-refused").map(({ id, code }) => [id, code]);
  expect(codes).toEqual([
    ["m", "deleted"],
    ["m", "deleted"],
    ["n", "deleted"],
    ["o", "unknown-session"],
  ]);
  expect([textOf(one), textOf(one, "n"), textOf(one, "o")]).toEqual(["alive", "", ""]);
});

test("[P76, H8] another actor's session and none at all are refused alike", async () => {
  const relay = await testRelay();
  const [ann, eve] = [await reader(relay), await reader(relay, "eve")];
  const { incarnation } = await ann.expect("ack", append("s", ["a"]));
  const [mine] = await eve.ask(piece(0, "x", { incarnation }));
  const [none] = await eve.ask(piece(0, "x", { session: "none", incarnation }));
  expect(mine).toEqual(none);
  expect(mine).toMatchObject({ type: "stream-refused", code: "unknown-session" });
});

test("[P78, H9] streams of a connection are bounded: the last that fits is carried, one more is not", async () => {
  const relay = await testRelay({ limits: { maxStreamsPerSocket: 2 } });
  const [writer, one] = [await reader(relay), await reader(relay)];
  for (const id of ["1", "2", "3"]) writer.say(piece(0, "x", { id }));
  await relay.clock.advance(60);
  expect(one.of("stream").map(({ id }) => id)).toEqual(["1", "2"]);
  expect(writer.of("stream-refused")).toMatchObject([
    { id: "3", code: "limit-reached", limit: { name: "maxStreamsPerSocket", max: 2 } },
  ]);
  writer.say({ type: "stream-end", id: "1", session: "s", kept: false });
  writer.say(piece(0, "x", { id: "4" }));
  await relay.clock.advance(60);
  expect(textOf(one, "4")).toBe("x");
  expect(writer.closed).toBeUndefined();
});

test("[P78, H9] a stream's text is bounded in bytes: at the limit it is carried, one byte more ends it", async () => {
  const relay = await testRelay({ limits: { maxStreamBytes: 10 } });
  const [writer, one] = [await reader(relay), await reader(relay)];
  writer.say(piece(0, "ééééé"));
  await relay.clock.advance(60);
  expect(textOf(one)).toBe("ééééé");
  writer.say(piece(5, "x"));
  await relay.clock.advance(60);
  expect(writer.of("stream-refused")).toMatchObject([
    { id: "m", code: "too-large", limit: { name: "maxStreamBytes", max: 10 } },
  ]);
  expect(one.of("stream-end")).toMatchObject([{ id: "m", kept: false }]);
  expect(writer.closed).toBeUndefined();
});

test("[P78, C44] a reader that reads slowly misses pieces, keeps its connection, and asks for what it missed", async () => {
  const relay = await testRelay({ limits: { maxBufferedBytes: 4_000 } });
  const [writer, slow] = [await reader(relay), await reader(relay)];
  writer.say(piece(0, "ab"));
  await relay.clock.advance(60);
  slow.buffered = 1_001;
  writer.say(piece(2, "cd"));
  await relay.clock.advance(60);
  slow.buffered = 0;
  writer.say(piece(4, "ef"));
  await relay.clock.advance(60);
  expect(textOf(slow)).toBe("ab");
  await slow.ask({ type: "stream-ask", id: "m", from: 2 });
  expect(textOf(slow)).toBe("abcdef");
  expect(slow.closed).toBeUndefined();
});

test("[P79] relay processes of one storage carry each other's streams, late readers and lost words included", async () => {
  const [storage, bus, clock] = [memoryStorage(), localBus(), new TestClock()];
  const one = await testRelay({ storage, bus, clock });
  const two = await testRelay({ storage, bus, clock, seed: 2 });
  const writer = await reader(one);
  writer.say(piece(0, "before anybody was there, "));
  await clock.advance(60);
  const late = await reader(two);
  writer.say(piece(26, "and then"));
  await clock.advance(60);
  await clock.advance(60);
  expect(textOf(late)).toBe("before anybody was there, and then");
  const later = await reader(two);
  await later.ask({ type: "stream-ask" });
  await clock.advance(60);
  expect(textOf(later)).toBe("before anybody was there, and then");
  writer.say({ type: "stream-end", id: "m", session: "s", kept: true });
  await clock.advance(60);
  expect(late.of("stream-end")).toMatchObject([{ id: "m", kept: true }]);
  expect(await late.ask({ type: "stream-ask" })).toEqual([]);
});
