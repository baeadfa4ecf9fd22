import { expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import type { Head } from "../../src/model/revision.ts";
import { faultyStorage } from "./faulty-storage.ts";
import { append, EMPTY, edit, pull } from "./ops.ts";
import { type RawClient, testRelay } from "./raw-client.ts";

/** What came after the welcome, each as its type and what it answers. */
function told(client: RawClient): string[] {
  return client.frames.slice(1).map((frame) => {
    if (frame.type === "ack" || frame.type === "refusal") return `${frame.type} ${frame.opId}`;
    return frame.type === "pong" || frame.type === "page" ? `${frame.type} ${frame.id}` : frame.type;
  });
}

const at = (count: number, lastId: string | null): Head => ({ generation: 0, count, lastId });

test("[P2] answers to pipelined ops come in the order of the ops, refusals at the wall included", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  client.say(append("s", ["a"], { opId: "1" }));
  client.say({ ...append("s", ["b"], { opId: "2", base: at(1, "a") }), messages: [{ id: "b" }] });
  client.say(append("s", ["c"], { opId: "3", base: at(1, "a") }));
  client.say({ type: "ping", id: 4 });
  client.say(append("s", ["d"], { opId: "5", base: EMPTY }));
  await relay.settle();
  expect(told(client)).toEqual(["ack 1", "refusal 2", "ack 3", "pong 4", "refusal 5"]);
});

test("[P2] a read sees what came before it and nothing that came after", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  client.say(append("s", ["a"], { opId: "1" }));
  client.say(pull("s", null, { id: "2" }));
  client.say(append("s", ["b"], { opId: "3", base: at(1, "a") }));
  client.say(pull("s", null, { id: "4" }));
  await relay.settle();
  expect(told(client)).toEqual(["ack 1", "page 2", "ack 3", "page 4"]);
  expect(client.of("page").map(({ messages }) => messages.length)).toEqual([1, 2]);
});

test("[P12] a ping is answered in its place, behind what is not answered yet", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  for (let n = 0; n < 3; n += 1) {
    client.say(pull("none", null, { id: `pull ${n}` }));
    client.say({ type: "ping", id: n });
  }
  await relay.settle();
  expect(told(client)).toEqual([
    "not-answered",
    "pong 0",
    "not-answered",
    "pong 1",
    "not-answered",
    "pong 2",
  ]);
});

test("[P42] positions come without a gap to every connection, whoever writes", async () => {
  const relay = await testRelay();
  const clients = await Promise.all([relay.client(), relay.client(), relay.client()]);
  for (let round = 0; round < 20; round += 1) {
    for (const [n, client] of clients.entries())
      client.say(edit(`s${n}`, `op ${round}`, { archived: round % 2 === 0 }));
    if (round % 5 === 0) await relay.settle();
  }
  await relay.settle();
  for (const client of clients) {
    const seqs = client.frames.flatMap((frame) => {
      if (frame.type === "ack") return frame.seq;
      return frame.type === "push" ? frame.entry.seq : [];
    });
    expect(seqs).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
  }
});

test("[P2] ten thousand frames behind a slow read are answered in order", async () => {
  let release = (): void => {};
  const { storage, faults } = faultyStorage(memoryStorage());
  const relay = await testRelay({ storage });
  const client = await relay.client();
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const pullOnce = storage.pull.bind(storage);
  storage.pull = async (place, question) => {
    await slow;
    return pullOnce(place, question);
  };
  client.say(pull("none", null, { id: "slow" }));
  for (let id = 0; id < 10_000; id += 1) client.say({ type: "ping", id });
  await relay.settle();
  expect(told(client)).toEqual([]);
  expect(client.paused).toBe(true);
  release();
  await relay.settle();
  expect(client.of("pong").map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, id) => id));
  expect(client.paused).toBe(false);
  expect(faults.loads).toBe(0);
});

test("[P2] the first of three that fails leaves the order to the client: what built on it is refused (C21)", async () => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const relay = await testRelay({ storage });
  const client = await relay.client();
  let failures = 1;
  faults.refuse = () => failures-- > 0;
  const ops = [
    append("s", ["1"]),
    append("s", ["2"], { base: at(1, "1") }),
    append("s", ["3"], { base: at(2, "2") }),
  ];
  for (const op of ops) client.say(op);
  await relay.settle();
  expect(client.of("refusal").map(({ code }) => code)).toEqual(["try-again", "conflict", "conflict"]);
  for (const op of ops) client.say(op);
  await relay.settle();
  const page = await client.expect("page", pull("s", null));
  expect(page.messages.map(({ message }) => message.id)).toEqual(["1", "2", "3"]);
});
