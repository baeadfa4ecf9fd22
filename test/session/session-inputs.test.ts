import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { createMessage, type Message, type MessageInput } from "../../src/model/message.ts";
import { Session } from "../../src/session/session.ts";
import { RecordingStore } from "./recording-store.ts";

const loop: { self?: unknown } = {};
loop.self = loop;
const good = { id: "s", store: new RecordingStore() };

const options: readonly (readonly [string, unknown, string])[] = [
  ["nothing", undefined, "options"],
  ["an array", [], "options"],
  ["no id", { store: good.store }, "id"],
  ["a number as id", { ...good, id: 7 }, "id"],
  ["a blank id", { ...good, id: " " }, "id"],
  ["an id of 129 characters", { ...good, id: "x".repeat(129) }, "id"],
  ["an actor that is no text", { ...good, actorId: 7 }, "actorId"],
  ["null as actor", { ...good, actorId: null }, "actorId"],
  ["an empty actor", { ...good, actorId: "" }, "actorId"],
  ["no store", { id: "s" }, "store"],
  ["text as store", { id: "s", store: "memory" }, "store"],
  ["metadata that is no object", { ...good, metadata: [] }, "metadata"],
  ["metadata with a date", { ...good, metadata: { at: new Date(0) } }, "metadata.at"],
  ["an operation that is no text", { ...good, operationId: 7 }, "operationId"],
];

const writes: readonly (readonly [string, unknown, string])[] = [
  ["nothing", undefined, "write"],
  ["text", "write", "write"],
  ["no messages", {}, "messages"],
  ["text as messages", { messages: "hi" }, "messages"],
  ["one message instead of a list", { messages: createMessage({ role: "user", content: "x" }) }, "messages"],
  ["a message that is none", { messages: [null] }, "messages[0]"],
  ["an unknown role", { messages: [{ role: "user" }, { role: "bot" }] }, "messages[1].role"],
  [
    "an unknown block",
    { messages: [{ role: "user", content: [{ type: "video" }] }] },
    "messages[0].content[0]",
  ],
  ["a blank message id", { messages: [{ role: "user", content: "x", id: " " }] }, "messages[0].id"],
  ["state that is no object", { messages: [], state: [] }, "state"],
  ["null as state", { messages: [], state: null }, "state"],
  [
    "NaN in the state",
    { messages: [], state: { plan: { items: [0, { at: Number.NaN }] } } },
    "state.plan.items[1].at",
  ],
  ["a cycle in the state", { messages: [], state: { loop } }, "state.loop.self"],
  ["a function in metadata", { messages: [], metadata: { f: () => 1 } }, "metadata.f"],
];

describe("Session: bad input", () => {
  test.each(options)("[H10] a session made of %s is refused, naming it", (_, given, path) => {
    const make = (): Session => new Session(given as ConstructorParameters<typeof Session>[0]);
    expect(make).toThrow(InvalidInputError);
    expect(make).toThrow(expect.objectContaining({ path }));
  });

  test.each(writes)(
    "[H10] a write of %s is refused, naming it, and changes nothing",
    async (_, given, path) => {
      const store = new RecordingStore();
      const session = new Session({ id: "s", store });
      await session.append({
        messages: [createMessage({ role: "user", content: "kept" })],
        state: { kept: 1 },
      });
      const before = await session.load();
      const asked = store.calls.length;
      for (const kind of ["append", "replace", "checkpoint"] as const) {
        const call = session[kind](given as { messages: [] });
        await expect(call).rejects.toBeInstanceOf(InvalidInputError);
        await expect(call).rejects.toMatchObject({ path: expect.stringContaining(path) });
      }
      expect(store.calls).toHaveLength(asked);
      expect(await session.reload()).toEqual(before);
    },
  );

  test("[H10] other arguments that are none are refused, naming them", async () => {
    const session = new Session(good);
    const calls: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => session.replace({ messages: [], expected: {} as never }), "expected.generation"],
      [() => session.replace({ messages: [], expected: { generation: 0, count: -1 } }), "expected.count"],
      [() => session.replace({ messages: [], expected: null as never }), "expected"],
      [() => session.checkpoint({ messages: [], parentOperationId: 7 as never }), "parentOperationId"],
      [() => session.checkpointResult(undefined as never), "result"],
      [() => session.checkpointResult({ messages: [] } as never), "state"],
      [() => session.projectConversation({ messages: 7 as never }), "messages"],
      [() => session.projectConversation({ messages: [], metadata: [] as never }), "metadata"],
      [() => session.history({ fallback: [{ role: "x" }] as never }), "fallback[0].role"],
      [() => session.history(null as never), "options"],
    ];
    for (const [call, path] of calls) {
      await expect(call()).rejects.toMatchObject({ code: "invalid-input", path });
    }
  });

  test("[D4] what was passed in is copied before the call returns, and nothing of it is frozen", async () => {
    for (const kind of ["append", "replace", "checkpoint"] as const) {
      const session = new Session({ id: "s", store: new RecordingStore() });
      const state = { list: [1] };
      const metadata: JsonObject = { list: [1] };
      const block = { type: "text", text: "said" };
      const messages = [{ role: "user", content: [block], metadata }] as unknown as MessageInput[];
      const writing = session[kind]({ messages, state, metadata });
      state.list.push(2);
      (metadata.list as number[]).push(2);
      block.text = "changed";
      messages.push({ role: "user", content: "late" });
      await writing;
      const stored = await session.load();
      expect(stored).toMatchObject({ state: { list: [1] }, metadata: { list: [1] } });
      expect(stored?.messages).toHaveLength(1);
      expect(stored?.messages[0]).toMatchObject({ content: [{ text: "said" }], metadata: { list: [1] } });
    }
  });

  test("[D4] the constructor's metadata is copied", async () => {
    const metadata = { list: [1] };
    const session = new Session({ ...good, metadata });
    metadata.list.push(2);
    expect(await session.metadata()).toEqual({ list: [1] });
  });

  test("[D4] messages may come from anything that can be iterated once", async () => {
    const session = new Session({ id: "s", store: new RecordingStore() });
    function* generate(): Generator<Message> {
      yield createMessage({ role: "user", content: "a" });
      yield createMessage({ role: "user", content: "b" });
    }
    await session.append({ messages: generate() });
    await session.checkpoint({ messages: new Set(await session.history()) });
    expect((await session.load())?.revision).toEqual({ generation: 0, count: 2 });
  });
});
