import { describe, expect, test } from "vitest";
import { ConflictError } from "../../src/model/errors.ts";
import { createMessage, type Message } from "../../src/model/message.ts";
import { Session } from "../../src/session/session.ts";
import { RecordingStore } from "./recording-store.ts";

const say = (text: string, role: Message["role"] = "user"): Message => createMessage({ role, content: text });
const open = (
  store = new RecordingStore(),
  rest: object = {},
): { store: RecordingStore; session: Session } => ({
  store,
  session: new Session({ id: "s", store, ...rest }),
});

describe("Session: loading and reading", () => {
  test("[S1] construction touches no store, and keeps what it was given", () => {
    const { store, session } = open(new RecordingStore(), {
      actorId: "ann",
      operationId: "op",
      metadata: { a: 1 },
    });
    expect(store.calls).toEqual([]);
    expect([session.id, session.actorId, session.operationId]).toEqual(["s", "ann", "op"]);
    expect(session.store).toBe(store);
    expect(open().session.actorId).toBeUndefined();
  });

  test("[S2] load asks the store once and remembers the answer", async () => {
    const { store, session } = open();
    await new Session({ id: "s", store }).append({ messages: [say("a")] });
    store.calls.length = 0;
    const [one, two] = await Promise.all([session.load(), session.load()]);
    expect(await session.load()).toBe(one);
    expect(two).toBe(one);
    expect(one?.messages).toHaveLength(1);
    expect(store.names).toEqual(["load"]);
  });

  test("[S2] that there is no such session is remembered too, and reload asks again", async () => {
    const { store, session } = open();
    expect(await session.load()).toBeUndefined();
    expect(await session.load()).toBeUndefined();
    expect(store.names).toEqual(["load"]);
    await new Session({ id: "s", store }).append({ messages: [say("a")] });
    expect(await session.load()).toBeUndefined();
    expect((await session.reload())?.messages).toHaveLength(1);
    expect((await session.load())?.messages).toHaveLength(1);
  });

  test("[S2] a failed load is not remembered", async () => {
    const { store, session } = open();
    store.instead.load = () => Promise.reject(new Error("down"));
    await expect(session.load()).rejects.toThrow("down");
    delete store.instead.load;
    expect(await session.load()).toBeUndefined();
    expect(store.names).toEqual(["load", "load"]);
  });

  test("[S2] a failed reload leaves what was remembered", async () => {
    const { store, session } = open();
    await session.append({ messages: [say("a")] });
    store.instead.load = () => Promise.reject(new Error("down"));
    await expect(session.reload()).rejects.toThrow("down");
    expect(await session.history()).toHaveLength(1);
  });

  test("[S2] a write that is answered while a load is under way counts, not the older load", async () => {
    const { store, session } = open();
    await session.load();
    let answer = (_: unknown): void => undefined;
    store.instead.load = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const reloading = session.reload();
    await session.append({ messages: [say("a")] });
    answer(undefined);
    await reloading;
    expect(await session.history()).toHaveLength(1);
  });

  test("[S3] stored messages win over the fallback, even when there are none", async () => {
    const { store, session } = open();
    const fallback = [say("old")];
    expect(await session.history({ fallback })).toEqual(fallback);
    expect(await session.history()).toEqual([]);
    await session.append({ messages: [] });
    expect(await session.history({ fallback })).toEqual([]);
    const messages = [say("new")];
    await session.append({ messages });
    expect(await session.history({ fallback })).toEqual(messages);
    expect(Object.isFrozen(await session.history())).toBe(true);
    expect(Object.isFrozen(await open(store).session.history({ fallback }))).toBe(true);
  });

  test("[S4] the state is a fresh copy each time, and empty for a new session", async () => {
    const { session } = open();
    expect(await session.state()).toEqual({});
    await session.append({ messages: [], state: { list: [1] } });
    const state = await session.state();
    (state.list as number[]).push(2);
    state.more = true;
    expect(await session.state()).toEqual({ list: [1] });
    expect((await session.load())?.state).toEqual({ list: [1] });
  });

  test("[S4] metadata is frozen, and what is stored wins over the constructor's", async () => {
    const { store, session } = open(new RecordingStore(), { metadata: { title: "mine", deep: { x: 1 } } });
    expect(await session.metadata()).toEqual({ title: "mine", deep: { x: 1 } });
    expect(Object.isFrozen((await session.metadata()).deep)).toBe(true);
    await session.append({ messages: [] });
    const other = new Session({ id: "s", store, metadata: { title: "other" } });
    expect(await other.metadata()).toEqual({ title: "mine", deep: { x: 1 } });
    expect(Object.isFrozen((await other.metadata()).deep)).toBe(true);
  });
});

describe("Session: append and replace", () => {
  test("[S5] append sends only what is new, with the count and generation it knows", async () => {
    const { store, session } = open(new RecordingStore(), { actorId: "ann", metadata: { title: "t" } });
    const [a, b, c] = [say("a"), say("b"), say("c")];
    await session.append({ messages: [a, b], state: { n: 1 } });
    const snapshot = await session.append({ messages: [c] });
    expect(store.names).toEqual(["load", "append", "append"]);
    expect(store.calls.map(({ given }) => given)).toEqual([
      { actorId: "ann" },
      {
        actorId: "ann",
        messages: [a, b],
        state: { n: 1 },
        metadata: { title: "t" },
        expectedCount: 0,
        expectedGeneration: 0,
      },
      {
        actorId: "ann",
        messages: [c],
        state: { n: 1 },
        metadata: { title: "t" },
        expectedCount: 2,
        expectedGeneration: 0,
      },
    ]);
    expect(snapshot.messages).toEqual([a, b, c]);
    expect(await session.load()).toBe(snapshot);
  });

  test("[S5] after a failed append the session remembers what it knew before", async () => {
    const { store, session } = open();
    const before = await session.append({ messages: [say("a")], state: { kept: true } });
    const other = new Session({ id: "s", store });
    await other.append({ messages: [say("b")] });
    const failing = session.append({ messages: [say("c")], state: {} });
    await expect(failing).rejects.toBeInstanceOf(ConflictError);
    await expect(failing).rejects.toMatchObject({
      expected: { generation: 0, count: 1 },
      actual: { generation: 0, count: 2 },
    });
    expect(await session.load()).toBe(before);
    await session.reload();
    await session.append({ messages: [say("c")] });
    expect((await session.history()).map(({ content }) => content)).toHaveLength(3);
  });

  test("[S5] appends of one session go in the order of the calls, a failing one holding up none", async () => {
    const { store, session } = open();
    const texts = ["a", "b", "c", "d"];
    const results = await Promise.allSettled(
      texts.map((text) =>
        session.append({ messages: [text === "b" ? { role: "user", content: text, id: "dup" } : say(text)] }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"));
    await expect(
      session.append({ messages: [{ role: "user", content: "again", id: "dup" }] }),
    ).rejects.toThrow("messages[0].id");
    await session.append({ messages: [say("e")] });
    const stored = await new Session({ id: "s", store }).history();
    expect(stored.map(({ content }) => (content[0] as { text: string }).text)).toEqual([...texts, "e"]);
  });

  test("[S6] replace writes the whole snapshot, and what is left out stays", async () => {
    const { store, session } = open();
    await session.append({ messages: [say("a")], state: { n: 1 }, metadata: { title: "t" } });
    const b = say("b");
    const snapshot = await session.replace({ messages: [b], state: { n: 2 } });
    expect(store.calls.at(-1)).toMatchObject({
      name: "replace",
      given: { messages: [b], state: { n: 2 }, metadata: { title: "t" } },
    });
    expect(snapshot.revision).toEqual({ generation: 1, count: 1 });
    expect(await session.load()).toBe(snapshot);
  });

  test("[S6] a replace that names its revision is refused when that moved; without one it wins", async () => {
    const { store, session } = open();
    const { revision } = await session.append({ messages: [say("a")] });
    await new Session({ id: "s", store }).append({ messages: [say("b")] });
    const named = session.replace({ messages: [say("c")], expected: revision });
    await expect(named).rejects.toMatchObject({ expected: revision, actual: { generation: 0, count: 2 } });
    expect((await session.load())?.revision).toEqual(revision);
    const won = await session.replace({ messages: [say("d")] });
    expect(won.revision).toEqual({ generation: 1, count: 1 });
  });

  test("[H11] an append does not look at the messages that are stored", async () => {
    const { store, session } = open();
    const many = Array.from({ length: 2_000 }, (_, at) => say(`${at}`));
    const first = await session.append({ messages: many });
    await session.append({ messages: [say("next")] });
    const given = store.calls.at(-1)?.given as { messages: readonly Message[] };
    expect(given.messages).toHaveLength(1);
    const next = await session.load();
    expect(next?.messages.slice(0, 2_000).every((message, at) => message === first.messages[at])).toBe(true);
  });
});
