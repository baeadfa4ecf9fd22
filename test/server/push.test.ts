import { expect, test } from "vitest";
import { localBus } from "../../server/bus/local.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import type { Page } from "../../src/wire/log.ts";
import { append, type EMPTY, edit, pull, remove, replace } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

test("[P42] an append is acknowledged to its sender and pushed to the others, with its messages", async () => {
  const relay = await testRelay();
  const one = await relay.client();
  const two = await relay.client();
  const ack = await one.expect("ack", append("s", ["a", "b"]));
  expect(ack).toMatchObject({ outcome: "applied", head: { count: 2, lastId: "b" }, added: 2, seq: 1 });
  const [push] = two.of("push");
  expect(push).toMatchObject({ entry: { seq: 1, head: ack.head, incarnation: ack.incarnation } });
  expect(push?.append?.start).toBe(0);
  expect(push?.append?.messages.map(({ opId, message }) => [opId, message.id])).toEqual([
    ["op-a-b", "a"],
    ["op-a-b", "b"],
  ]);
  expect(one.of("push")).toEqual([]);
});

test("[P42] each kind of change is pushed once, and nothing that changed nothing", async () => {
  const relay = await testRelay();
  const [one, two] = [await relay.client(), await relay.client()];
  const { head, incarnation } = await one.expect("ack", append("s", ["a"]));
  const replaced = await one.expect("ack", replace("s", ["b"], { base: head }));
  await one.expect("ack", edit("s", "e1", { archived: true, read: { generation: 1, count: 1 } }));
  await one.expect("ack", edit("s", "e2", { archived: true }));
  await one.expect("ack", append("s", ["b"], { base: { generation: 1, count: 0, lastId: null } }));
  await one.expect("refusal", append("s", ["x"], { base: head }));
  await one.expect("ack", append("s", ["a"]));
  await one.expect("ack", remove("s", "d", incarnation));
  await one.expect("ack", remove("s", "d2", incarnation));
  const pushes = two.of("push").map(({ entry, append: added }) => [entry.seq, entry.deleted, added?.start]);
  expect(pushes).toEqual([
    [1, false, 0],
    [2, false, undefined],
    [3, false, undefined],
    [4, true, undefined],
  ]);
  expect(two.of("push")[1]?.entry.head).toEqual(replaced.head);
});

test("[P43] a push leaves out what is long, and it is there to be pulled", async () => {
  const relay = await testRelay({ limits: { maxFrameBytes: 4_000 } });
  const [one, two] = [await relay.client(), await relay.client()];
  const op = append("s", ["a"]);
  const text = "x".repeat(2_000);
  const messages = op.messages.map((message) => ({ ...message, content: [{ type: "text", text }] }));
  const { incarnation } = await one.expect("ack", { ...op, messages });
  expect(two.of("push")).toMatchObject([{ entry: { head: { count: 1 } } }]);
  expect(two.of("push")[0]?.append).toBeUndefined();
  const page = await two.expect("page", pull("s", incarnation));
  expect(page.messages).toHaveLength(1);
});

test("[P40] the catalog is told from a cursor, in pages, tombstones included", async () => {
  const relay = await testRelay({ limits: { pageEntries: 2 } });
  const client = await relay.client();
  for (const session of ["1", "2", "3", "4", "5"]) await client.expect("ack", append(session, ["a"]));
  await client.expect("ack", remove("2", "d"));
  const told: [string, boolean][] = [];
  let cursor = 0;
  for (let more = true; more; ) {
    const page = await client.expect("catalog-page", { type: "catalog", id: `q${cursor}`, cursor });
    told.push(...page.entries.map(({ session, deleted }): [string, boolean] => [session, deleted]));
    ({ cursor, more } = page);
  }
  expect(told).toEqual([
    ["1", false],
    ["3", false],
    ["4", false],
    ["5", false],
    ["2", true],
  ]);
  expect(cursor).toBe(6);
  const nothing = await client.expect("catalog-page", { type: "catalog", id: "q", cursor });
  expect(nothing).toMatchObject({ entries: [], cursor: 6, more: false });
});

test("[P30] a long log comes in pages, each continued from the end of the last", async () => {
  const relay = await testRelay({ limits: { pageMessages: 7 } });
  const client = await relay.client();
  const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
  const { incarnation } = await client.expect("ack", append("s", ids));
  const got: string[] = [];
  let have: typeof EMPTY | null = null;
  for (let more = true; more; ) {
    const page: Page = await client.expect("page", pull("s", incarnation, { have }));
    expect(page.start).toBe(got.length);
    expect(page.messages.length).toBeLessThanOrEqual(7);
    got.push(...page.messages.map(({ message }) => message.id));
    have = { generation: page.generation, count: got.length, lastId: got.at(-1) ?? null };
    more = page.more;
  }
  expect(got).toEqual(ids);
});

test("[P34] archived generations are listed and read, and what never was is not answered", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  const { head, incarnation } = await client.expect("ack", append("s", ["a", "b"]));
  await client.expect("ack", replace("s", ["x"], { base: head, keep: { generation: 0, count: 1 } }));
  const list = await client.expect("generations", {
    type: "list-generations",
    id: "1",
    session: "s",
    incarnation,
  });
  expect(list.generations).toMatchObject([
    { generation: 1, count: 2, opId: "replace-x" },
    { generation: 0, count: 2, replacedAt: new Date(relay.clock.now()).toISOString() },
  ]);
  const read = (generation: number, life = incarnation) =>
    client.ask({ type: "read-generation", id: "2", session: "s", incarnation: life, generation, from: 1 });
  expect(await read(0)).toMatchObject([{ type: "generation-page", start: 1, more: false }]);
  const [page] = client.of("generation-page");
  expect(page?.messages.map(({ message }) => message.id)).toEqual(["b"]);
  expect(await read(7)).toMatchObject([{ type: "not-answered", code: "malformed" }]);
  expect(await read(0, "other")).toMatchObject([{ type: "not-answered", code: "deleted" }]);
});

test("[P33] a relay restored from an older backup says that it is behind, and takes back what it lost", async () => {
  const relay = await testRelay();
  const client = await relay.client();
  const { incarnation } = await client.expect("ack", append("s", ["a"]));
  const have = { generation: 0, count: 3, lastId: "c" };
  const page = await client.expect("page", pull("s", incarnation, { have }));
  expect(page).toMatchObject({ behind: true, start: 1, messages: [], head: { count: 1 } });
  const lost = append("s", ["b", "c"], { base: { generation: 0, count: 1, lastId: "a" } });
  expect(await client.expect("ack", lost)).toMatchObject({ outcome: "applied", head: have });
});

test("[H8] no frame tells one actor that another's session exists: each answer is that of no session at all", async () => {
  const relay = await testRelay();
  const ann = await relay.client("ann");
  const { incarnation, head } = await ann.expect(
    "ack",
    append("secret", ["a"], { metadata: [{ at: "/t", value: "x" }] }),
  );
  const bob = await relay.client("bob");
  const asked = async (session: string) => {
    const answers = [];
    const base = head;
    const frames = [
      pull(session, incarnation, { id: "1" }),
      pull(session, null, { id: "2", have: head }),
      { type: "read-generation", id: "3", session, incarnation, generation: 0, from: 0 },
      { type: "list-generations", id: "4", session, incarnation },
      append(session, ["b"], { opId: "5", base, incarnation }),
      append(session, ["b"], { opId: "6", base }),
      replace(session, ["b"], { opId: "7", base, incarnation }),
      edit(session, "8", { incarnation, archived: true }),
      remove(session, "9", incarnation),
      append(session, ["a"], { opId: "op-a", incarnation }),
      { type: "open-channel", channel: 1, session, incarnation },
      { type: "catalog", id: "10", cursor: 0 },
    ];
    for (const frame of frames) answers.push(...(await bob.ask(frame)));
    return JSON.stringify(answers).replaceAll(session, "SESSION");
  };
  expect(await asked("secret")).toBe(await asked("never-was"));
  expect(bob.of("push")).toEqual([]);
  expect(bob.frames.filter((frame) => JSON.stringify(frame).includes("secret"))).toHaveLength(6);
  const stock = relay.connect({ url: "/y/secret?actorId=bob" });
  const none = relay.connect({ url: "/y/never-was?actorId=bob" });
  await relay.settle();
  expect(stock.closed).toEqual(none.closed);
});

test("[H8] two actors may use one session id, op id and message id without meeting", async () => {
  const relay = await testRelay();
  const [ann, bob] = [await relay.client("ann"), await relay.client("bob")];
  const op = append("s", ["a"]);
  expect(await ann.expect("ack", op)).toMatchObject({ outcome: "applied", seq: 1 });
  expect(await bob.expect("ack", op)).toMatchObject({ outcome: "applied", seq: 1 });
  await ann.expect("ack", remove("s", "d"));
  expect((await bob.expect("page", pull("s", null))).messages).toHaveLength(1);
  expect(bob.of("push")).toEqual([]);
});

test("[P42] relays on one storage and bus tell each other's connections", async () => {
  const [storage, bus] = [memoryStorage(), localBus()];
  const [here, there] = [await testRelay({ storage, bus }), await testRelay({ storage, bus })];
  const [one, two, other] = [await here.client(), await there.client(), await there.client("bob")];
  const { incarnation } = await one.expect("ack", append("s", ["a"]));
  await there.settle();
  expect(two.of("push")).toMatchObject([{ entry: { seq: 1, incarnation }, append: { start: 0 } }]);
  expect(other.of("push")).toEqual([]);
  await two.expect("ack", edit("s", "e", { archived: true }));
  await here.settle();
  expect(one.of("push")).toMatchObject([{ entry: { seq: 2, archived: true } }]);
});
