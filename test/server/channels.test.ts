import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import { describe, expect, test } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import { memoryStorage } from "../../server/storage/memory.ts";
import { faultyStorage } from "./faulty-storage.ts";
import { append, edit, pull, remove, replace } from "./ops.ts";
import { type RawClient, type TestRelayOptions, testRelay } from "./raw-client.ts";
import { YjsClient } from "./yjs-client.ts";

/** A relay with one session, and channels of it for as many clients as a test wants. */
async function opened(options: TestRelayOptions = {}) {
  const relay = await testRelay(options);
  const setup = await relay.client();
  const { incarnation, head } = await setup.expect("ack", append("s", ["a"]));
  /** A client that has opened the channel and synced. */
  const join = async (channel = 1, client?: RawClient) => {
    const by = client ?? (await relay.client());
    by.say({ type: "open-channel", channel, session: "s", incarnation });
    await relay.settle();
    const yjs = new YjsClient(by, channel);
    yjs.sync();
    await exchange([yjs]);
    return { client: by, yjs };
  };
  /** Lets what was said arrive, until nobody has anything to say. */
  const exchange = async (all: readonly YjsClient[]) => {
    for (let round = 0; round < 3; round += 1) {
      await relay.settle();
      for (const yjs of all) yjs.receive();
    }
    await relay.settle();
  };
  const stored = async () => {
    const loaded = await relay.storage.loadState({ actor: "ann", session: "s", incarnation: null });
    return "absent" in loaded ? loaded.absent : loaded;
  };
  return { relay, setup, incarnation, head, join, exchange, stored };
}

function updateOf(key: string, value: unknown): Uint8Array {
  const doc = new Doc();
  doc.getMap("state").set(key, value);
  return encodeStateAsUpdate(doc);
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

function bring(update: Uint8Array): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, 0);
  writeVarUint(encoder, 2);
  writeVarUint8Array(encoder, update);
  return toUint8Array(encoder);
}

function presence(...words: [client: number, clock: number, state: string][]): Uint8Array {
  const inner = createEncoder();
  writeVarUint(inner, words.length);
  for (const [client, clock, state] of words) {
    writeVarUint(inner, client);
    writeVarUint(inner, clock);
    writeVarUint8Array(inner, new TextEncoder().encode(state));
  }
  const encoder = createEncoder();
  writeVarUint(encoder, 1);
  writeVarUint8Array(encoder, toUint8Array(inner));
  return toUint8Array(encoder);
}

describe("opening", () => {
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
    for (const channel of [1, 2])
      await setup.ask({ type: "open-channel", channel, session: "s", incarnation });
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
});

describe("state", () => {
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
});

describe("what cannot be taken", () => {
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
    const bytes =
      typeof loaded === "string" ? 0 : loaded.updates.reduce((sum, one) => sum + one.byteLength, 0);
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
});

describe("presence", () => {
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
});
