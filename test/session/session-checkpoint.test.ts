import { describe, expect, test } from "vitest";
import { createMessage, type Message, parseMessage, serializeMessage } from "../../src/model/message.ts";
import { Session } from "../../src/session/session.ts";
import { RecordingStore } from "./recording-store.ts";

const say = (text: string, role: Message["role"] = "user"): Message => createMessage({ role, content: text });
const open = (): { store: RecordingStore; session: Session } => {
  const store = new RecordingStore();
  return { store, session: new Session({ id: "s", store }) };
};
const writes = (store: RecordingStore): readonly string[] => store.names.filter((name) => name !== "load");

describe("Session.checkpoint", () => {
  test("[S7] an unchanged prefix is an append of the rest", async () => {
    const { store, session } = open();
    const [a, b, c] = [say("a"), say("b"), say("c")];
    await session.checkpoint({ messages: [a] });
    await session.checkpoint({ messages: [a, b, c] });
    expect(writes(store)).toEqual(["append", "append"]);
    expect(store.calls.at(-1)?.given).toMatchObject({
      messages: [b, c],
      expectedCount: 1,
      expectedGeneration: 0,
    });
    expect(await session.history()).toEqual([a, b, c]);
  });

  test("[S7] twenty checkpoints of the same history write once, and all give the snapshot", async () => {
    const { store, session } = open();
    const messages = [say("a"), say("b", "assistant")];
    const snapshots = [];
    for (let n = 0; n < 20; n += 1) {
      snapshots.push(await session.checkpoint({ messages, state: { n: 1 }, metadata: { t: 1 } }));
    }
    expect(writes(store)).toEqual(["append"]);
    expect(new Set(snapshots).size).toBe(1);
    const again = new Session({ id: "s", store });
    const copies = messages.map((message) =>
      parseMessage(JSON.parse(JSON.stringify(serializeMessage(message)))),
    );
    await again.checkpoint({ messages: copies, state: { n: 1 } });
    expect(writes(store)).toEqual(["append"]);
  });

  test("[S7] twenty checkpoints at once of the same history write once", async () => {
    const { store, session } = open();
    const messages = [say("a")];
    await Promise.all(Array.from({ length: 20 }, () => session.checkpoint({ messages })));
    expect(writes(store)).toEqual(["append"]);
  });

  test("[S7] only state or metadata changed is an append of no messages", async () => {
    const { store, session } = open();
    const messages = [say("a")];
    await session.checkpoint({ messages, state: { n: 1, m: 2 }, metadata: { t: 1 } });
    await session.checkpoint({ messages, state: { m: 2, n: 1 } });
    expect(writes(store)).toHaveLength(1);
    await session.checkpoint({ messages, state: { n: 2 } });
    expect(store.calls.at(-1)).toMatchObject({ name: "append", given: { messages: [], state: { n: 2 } } });
    await session.checkpoint({ messages, metadata: { t: 2 } });
    expect(store.calls.at(-1)).toMatchObject({
      name: "append",
      given: { messages: [], state: { n: 2 }, metadata: { t: 2 } },
    });
    expect((await session.load())?.revision).toEqual({ generation: 0, count: 1 });
  });

  test("[S7] a shorter or changed history is a replace that names the revision it was computed from", async () => {
    const { store, session } = open();
    const [a, b] = [say("a"), say("b")];
    await session.checkpoint({ messages: [a, b], state: { kept: 1 } });
    await session.checkpoint({ messages: [a] });
    expect(store.calls.at(-1)).toMatchObject({
      name: "replace",
      given: { messages: [a], state: { kept: 1 }, expected: { generation: 0, count: 2 } },
    });
    const changed = createMessage({ ...serialisable(a), content: "changed" });
    await session.checkpoint({ messages: [changed, b] });
    expect(store.calls.at(-1)?.name).toBe("replace");
    expect((await session.load())?.revision).toEqual({ generation: 2, count: 2 });
  });

  test("[S7] nothing at all, for a session that does not exist, writes nothing", async () => {
    const { store, session } = open();
    const blank = await session.checkpoint({ messages: [] });
    expect(blank).toEqual({ messages: [], state: {}, metadata: {}, revision: { generation: 0, count: 0 } });
    expect(writes(store)).toEqual([]);
    expect(await session.load()).toBeUndefined();
  });

  test("[C10] an empty checkpoint before the first load sees what is stored before it replaces it", async () => {
    const { store, session } = open();
    await new Session({ id: "s", store }).append({ messages: [say("a"), say("b")] });
    store.calls.length = 0;
    await session.checkpoint({ messages: [] });
    expect(store.names).toEqual(["load", "replace"]);
    expect(store.calls[1]?.given).toMatchObject({ expected: { generation: 0, count: 2 } });
  });

  test("[H5] a checkpoint that knows an older log than the store's is refused, and nothing is lost", async () => {
    const { store, session } = open();
    const a = say("a");
    await session.checkpoint({ messages: [a] });
    await new Session({ id: "s", store }).append({ messages: [say("foreign")] });
    const conflict = { code: "conflict", actual: { generation: 0, count: 2 } };
    await expect(session.checkpoint({ messages: [a, say("b")] })).rejects.toMatchObject(conflict);
    await expect(session.checkpoint({ messages: [] })).rejects.toMatchObject(conflict);
    expect((await session.reload())?.messages).toHaveLength(2);
  });

  test("[S8] what a run returned is checkpointed with the stored metadata", async () => {
    const { store, session } = open();
    const messages = [say("a")];
    await session.append({ messages, metadata: { title: "t" } });
    await session.checkpointResult({ messages: [...messages, say("b", "assistant")], state: { done: true } });
    expect(await session.load()).toMatchObject({ state: { done: true }, metadata: { title: "t" } });
    expect(writes(store)).toEqual(["append", "append"]);
  });

  test("[M8] messages given without ids that say what is stored take the stored ids", async () => {
    const { store, session } = open();
    const plain = [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "text", text: "ho" }], metadata: { n: 1 } },
    ] as const;
    await session.checkpoint({ messages: plain });
    const ids = (await session.history()).map(({ id }) => id);
    await session.checkpoint({ messages: [...plain, { role: "user", content: "more" }] });
    await session.checkpoint({
      messages: [{ role: "system", content: "s" }, ...plain, { role: "user", content: "more" }],
    });
    expect(writes(store)).toEqual(["append", "append"]);
    expect((await session.history()).slice(0, 2).map(({ id }) => id)).toEqual(ids);
    await session.checkpoint({ messages: [plain[0], { role: "assistant", content: "other" }] });
    expect(store.calls.at(-1)?.name).toBe("replace");
    expect((await session.history())[0]?.id).toBe(ids[0]);
  });

  test("[M8] messages given with their ids and no times are the stored ones when they say the same", async () => {
    const { store, session } = open();
    const named = [{ id: "m1", role: "user", content: "hi" }] as const;
    await session.checkpoint({ messages: named });
    await session.checkpoint({ messages: named });
    expect(writes(store)).toEqual(["append"]);
    await session.checkpoint({ messages: [{ ...named[0], id: "m2" }] });
    expect(store.calls.at(-1)?.name).toBe("replace");
  });

  test("[M8] an id that was given is never swapped for the stored one", async () => {
    const { store, session } = open();
    await session.append({ messages: [say("same")] });
    const other = say("same");
    await session.checkpoint({ messages: [other] });
    expect(store.calls.at(-1)?.name).toBe("replace");
    expect((await session.history())[0]?.id).toBe(other.id);
  });

  test("[M7] a prefix is told by value, the order of keys ignored", async () => {
    const { store, session } = open();
    const message = createMessage({ role: "user", content: "x", metadata: { a: 1, b: { c: 2, d: 3 } } });
    await session.checkpoint({ messages: [message] });
    const json = serializeMessage(message);
    const turned = parseMessage({ ...json, metadata: { b: { d: 3, c: 2 }, a: 1 } });
    await session.checkpoint({ messages: [turned, say("next")] });
    expect(writes(store)).toEqual(["append", "append"]);
  });

  test("[S16] a tool call and its result reach the store in the same write", async () => {
    const { store, session } = open();
    const question = say("what is the time?");
    await session.checkpoint({ messages: [question] });
    const call = createMessage({
      role: "assistant",
      content: [
        { type: "reasoning", text: "r" },
        { type: "tool_use", id: "c1", name: "time", input: {} },
      ],
    });
    const result = createMessage({
      role: "tool",
      content: { type: "tool_result", toolUseId: "c1", content: "noon", status: "success" },
    });
    await session.checkpointResult({
      messages: [question, call, result, say("noon", "assistant")],
      state: {},
    });
    const given = store.calls.at(-1)?.given as { messages: readonly Message[] };
    expect(given.messages.map(({ content }) => content[0]?.type)).toEqual([
      "tool_use",
      "tool_result",
      "text",
    ]);
    expect(writes(store)).toEqual(["append", "append"]);
  });
});

function serialisable(message: Message): { id: string; role: Message["role"]; createdAt: string } {
  const { id, role, createdAt } = message;
  return { id, role, createdAt };
}
