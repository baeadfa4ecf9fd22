import { expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { TestClock } from "../../src/testing/clock.ts";
import type { OpFrame } from "../../src/wire/client-frames.ts";
import type { Ack } from "../../src/wire/log.ts";
import { faultyStorage } from "./faulty-storage.ts";
import { append, EMPTY, edit, message, pull, remove, replace } from "./ops.ts";
import { type RawClient, testRelay } from "./raw-client.ts";

/** The first answer, as it is given again. */
const again = (first: Ack): Ack => ({ ...first, outcome: "known", seq: 0 });

const base = { generation: 0, count: 1, lastId: "a" };
const ops: Record<string, OpFrame> = {
  append: append("s", ["b", "c"], { base }),
  "append of state alone": append("s", [], { base, opId: "state", state: "AAEBAQE=" }),
  replace: replace("s", ["x"], { base, keep: { generation: 0, count: 1 } }),
  restore: replace("s", [], { base, opId: "restore", keep: { generation: 0, count: 0 } }),
  edit: edit("s", "edit", { metadata: [{ at: "/title", value: "t" }], archived: true }),
  delete: remove("s", "delete"),
};

const delays = { "31 seconds": 31_000, "16 minutes": 16 * 60_000, "90 days": 90 * 86_400_000 };

for (const [kind, op] of Object.entries(ops)) {
  const frame = "state" in op && op.state !== undefined ? { ...op, state: emptyMapUpdate() } : op;

  test.each(Object.entries(delays))(
    `[C15] ${kind}: its answer is lost, the retry after %s has no second effect`,
    async (_, ms) => {
      const relay = await testRelay();
      const setup = await relay.client();
      await setup.expect("ack", append("s", ["a"]));
      const lost = await relay.client();
      const first = await lost.expect("ack", frame);
      lost.drop();
      const position = await relay.storage.position("ann");
      await relay.clock.advance(ms);
      const later = await relay.client();
      expect(await later.expect("ack", frame)).toEqual(again(first));
      expect(await relay.storage.position("ann")).toBe(position);
      expect(later.of("push")).toEqual([]);
    },
  );

  test(`[C15] ${kind}: the retry after the relay was restarted has no second effect`, async () => {
    const storage = memoryStorage();
    const before = await testRelay({ storage });
    const one = await before.client();
    await one.expect("ack", append("s", ["a"]));
    const first = await one.expect("ack", frame);
    await before.core.close();
    expect(one.closed?.code).toBe(1013);
    const after = await testRelay({ storage, seed: 2 });
    const two = await after.client();
    expect(await two.expect("ack", frame)).toEqual(again(first));
  });

  test(`[C17] ${kind}: sent by two connections at once, it has one effect`, async () => {
    const relay = await testRelay();
    const one = await relay.client();
    await one.expect("ack", append("s", ["a"]));
    const two = await relay.client();
    const position = await relay.storage.position("ann");
    one.say(frame);
    two.say(frame);
    await relay.settle();
    const answers = [one, two].map((client) => client.of("ack").at(-1));
    expect(answers.map((ack) => ack?.outcome)).toEqual(["applied", "known"]);
    expect(answers[1]?.head).toEqual(answers[0]?.head);
    expect(await relay.storage.position("ann")).toBe(position + 1);
  });

  test(`[H2] ${kind}: stored and its answer lost inside the relay, the op is told to try again and is then known`, async () => {
    const { storage, faults } = faultyStorage(memoryStorage());
    const relay = await testRelay({ storage });
    const client = await relay.client();
    await client.expect("ack", append("s", ["a"]));
    faults.forget = () => true;
    expect(await client.expect("refusal", frame)).toMatchObject({ code: "try-again" });
    faults.forget = () => false;
    expect(await client.expect("ack", frame)).toMatchObject({ outcome: "known" });
  });

  test(`[H2] ${kind}: a write that fails is refused with try-again and has left nothing`, async () => {
    const { storage, faults } = faultyStorage(memoryStorage());
    const relay = await testRelay({ storage });
    const client = await relay.client();
    const other = await relay.client();
    await client.expect("ack", append("s", ["a"]));
    const position = await relay.storage.position("ann");
    faults.refuse = () => true;
    expect(await client.expect("refusal", frame)).toMatchObject({ code: "try-again" });
    expect(await relay.storage.position("ann")).toBe(position);
    expect(other.of("push")).toHaveLength(1);
    faults.refuse = () => false;
    expect(await client.expect("ack", frame)).toMatchObject({ outcome: "applied", seq: position + 1 });
  });
}

/** A Yjs update that sets one key; made by hand, so that this file needs no document. */
function emptyMapUpdate(): string {
  // One client (1) with one item at clock 0: key "k" of the map "state", the number 1; no deletions.
  const bytes = [1, 1, 1, 0, 0x28, 1, 5, ...new TextEncoder().encode("state"), 1, 0x6b, 1, 0x7d, 1, 0];
  return Buffer.from(bytes).toString("base64");
}

test("[C63] an op is known after a replace, after the restore of what was replaced, and after months", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  const op = append("s", ["a", "b"]);
  const first = await client.expect("ack", op);
  const { head } = await client.expect("ack", replace("s", ["x"], { base: first.head }));
  expect(await client.expect("ack", op)).toEqual(again(first));
  const restore = replace("s", [], { base: head, opId: "restore", keep: { generation: 0, count: 2 } });
  await client.expect("ack", restore);
  expect(await client.expect("ack", op)).toEqual(again(first));
  await relay.clock.advance(200 * 86_400_000);
  expect(await client.expect("ack", op)).toEqual(again(first));
  const page = await client.expect("page", pull("s", null));
  expect(page.messages.map(({ message }) => message.id)).toEqual(["a", "b"]);
});

test("[C19] the same op id with other content is refused as such, whatever differs", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  const op = append("s", ["a"], { opId: "one", metadata: [{ at: "/t", value: 1 }] });
  await client.expect("ack", op);
  const others: OpFrame[] = [
    { ...op, messages: [{ ...message("a"), content: [] }] },
    { ...op, messages: [] },
    { ...op, metadata: [{ at: "/t", value: 2 }] },
    { ...op, metadata: undefined },
    { ...replace("s", ["a"]), opId: "one", metadata: op.metadata },
    edit("s", "one", { metadata: op.metadata }),
    remove("s", "one"),
  ];
  for (const other of others) {
    expect(await client.expect("refusal", other)).toMatchObject({ code: "op-reused" });
  }
  const page = await client.expect("page", pull("s", null));
  expect(page.messages).toHaveLength(1);
});

test("[P14] what an op is based on is no part of its content: a rebased retry of a known op is known", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  const first = await client.expect("ack", append("s", ["a"]));
  const { head } = await client.expect("ack", append("s", ["b"], { base: first.head }));
  const rebased = append("s", ["a"], { base: head, incarnation: first.incarnation });
  expect(await client.expect("ack", rebased)).toEqual(again(first));
});

test("[C18] fifty appends at once from ten clients: all present, positions dense, one order everywhere", async () => {
  const relay = await testRelay();
  const clients = await Promise.all(Array.from({ length: 10 }, () => relay.client()));
  const waiting = clients.map((client, n) => ({
    client,
    ids: Array.from({ length: 5 }, (_, m) => `c${n}-m${m}`),
    base: EMPTY as Ack["head"],
    answered: 0,
  }));
  for (let round = 0; waiting.some(({ ids }) => ids.length > 0); round += 1) {
    expect(round).toBeLessThan(60);
    for (const { client, ids, base: from } of waiting) {
      const [id] = ids;
      if (id !== undefined) client.say(append("s", [id], { base: from, opId: `${id}-${round}` }));
    }
    await relay.settle();
    for (const one of waiting) {
      const answer = answersOf(one.client).at(one.answered);
      if (answer === undefined) continue;
      one.answered += 1;
      if (answer.type === "ack") {
        one.ids.shift();
        one.base = answer.head;
      } else one.base = answer.actual?.head ?? one.base;
    }
  }
  const logs = await Promise.all(clients.map((client) => client.expect("page", pull("s", null))));
  const orders = logs.map(({ messages }) => messages.map(({ message }) => message.id));
  expect(new Set(orders[0]).size).toBe(50);
  for (const order of orders) expect(order).toEqual(orders[0]);
  for (const client of clients) expect(clientOrder(client)).toEqual(orders[0]);
});

function answersOf(client: RawClient) {
  return client.frames.filter((frame) => frame.type === "ack" || frame.type === "refusal");
}

/** The log as pushes and acknowledgements alone told it: position by position. */
function clientOrder(client: RawClient): string[] {
  const log: string[] = [];
  for (const frame of client.frames) {
    if (frame.type === "push") {
      for (const [n, { message }] of (frame.append?.messages ?? []).entries()) {
        log[(frame.append?.start ?? 0) + n] = message.id;
      }
    } else if (frame.type === "ack") log[frame.head.count - 1] = frame.head.lastId ?? "";
  }
  return log;
}

test("[C20] clocks that are wrong, on the relay and in messages, change no order", async () => {
  const clock = new TestClock();
  const relay = await testRelay({ clock });
  const client = await relay.client();
  let head: Ack["head"] = EMPTY;
  const times = ["2025-01-02T00:00:00.000Z", "2024-12-31T00:00:00.000Z", "1970-01-01T00:00:00.000Z"];
  for (let n = 0; n < 30; n += 1) {
    if (n % 7 === 0) clock.jump(n % 2 === 0 ? 86_400_000 : -86_400_000);
    const op = append("s", [`m${n}`], { base: head });
    const createdAt = times[n % times.length];
    const ack: Ack = await client.expect("ack", {
      ...op,
      messages: op.messages.map((one) => ({ ...one, createdAt })),
    });
    expect(ack.seq).toBe(n + 1);
    head = ack.head;
  }
  const page = await client.expect("page", pull("s", null));
  expect(page.messages.map(({ message }) => message.id)).toEqual(
    Array.from({ length: 30 }, (_, n) => `m${n}`),
  );
});

test("[C61] three pipelined appends after a foreign one: each is refused, none by a right count let in", async () => {
  const relay = await testRelay();
  const [mine, foreign] = [await relay.client(), await relay.client()];
  const ids = ["p1", "p2", "p3", "p4", "p5"];
  const { head } = await mine.expect("ack", append("s", ids));
  await foreign.expect("ack", append("s", ["foreign"], { base: head }));
  let from = head;
  for (const id of ["1", "2", "3"]) {
    mine.say(append("s", [id], { base: from }));
    from = { ...from, count: from.count + 1, lastId: id };
  }
  await relay.settle();
  expect(mine.of("refusal").map(({ code }) => code)).toEqual(["conflict", "conflict", "conflict"]);
  const [first] = mine.of("refusal");
  expect(first?.actual?.head).toEqual({ generation: 0, count: 6, lastId: "foreign" });
  expect(first?.tail?.map(({ message }) => message.id)).toEqual(["foreign"]);
  let rebased = first?.actual?.head ?? EMPTY;
  for (const id of ["1", "2", "3"])
    rebased = (await mine.expect("ack", append("s", [id], { base: rebased }))).head;
  const page = await mine.expect("page", pull("s", null));
  expect(page.messages.map(({ message }) => message.id)).toEqual([...ids, "foreign", "1", "2", "3"]);
});
