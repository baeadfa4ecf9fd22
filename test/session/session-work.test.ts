import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../src/model/errors.ts";
import { createMessage, type Message, type MessageInput, serializeMessage } from "../../src/model/message.ts";
import { Session } from "../../src/session/session.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";
import { RecordingStore } from "./recording-store.ts";

const say = (text: string, role: Message["role"] = "user"): Message => createMessage({ role, content: text });
const open = (rest: object = {}): { store: RecordingStore; session: Session } => {
  const store = new RecordingStore();
  return { store, session: new Session({ id: "s", store, ...rest }) };
};

describe("Session: what leaves it", () => {
  const reasoning = { type: "reasoning", text: "secret" } as const;
  const given: MessageInput[] = [
    { role: "system", content: "secret" },
    { role: "developer", content: "stays" },
    { role: "user", content: "secret", metadata: { transient: 1 } },
    { role: "user", content: "stays", metadata: { transient: false } },
    { role: "assistant", content: [reasoning] },
    { role: "assistant", content: [] },
    { role: "assistant", content: [reasoning, "stays"] },
    {
      role: "tool",
      content: { type: "tool_result", toolUseId: "c", status: "success", content: ["stays", reasoning] },
    },
  ];

  test("[S9] system, transient and reasoning are left out of every kind of write; what was empty stays", async () => {
    for (const kind of ["append", "replace", "checkpoint"] as const) {
      const { store, session } = open();
      await session[kind]({ messages: given });
      const sent = store.calls.at(-1)?.given as { messages: readonly Message[] };
      expect(sent.messages.map(({ role }) => role)).toEqual([
        "developer",
        "user",
        "assistant",
        "assistant",
        "tool",
      ]);
      expect(JSON.stringify(sent.messages.map(serializeMessage))).not.toContain("secret");
      expect(sent.messages[2]?.content).toEqual([]);
      expect(sent.messages[3]?.content).toHaveLength(1);
      expect(sent.messages[4]?.content[0]).toMatchObject({ content: ["stays"] });
    }
  });

  test("[S10] run-scoped artifact references are gone from texts and tool results, with their list", async () => {
    const { store, session } = open();
    const messages: MessageInput[] = [
      {
        role: "assistant",
        content: [
          "see run://a/1 and run://a/12",
          { type: "tool_result", toolUseId: "c", status: "success", content: { at: "run://a/12", n: 1 } },
        ],
        metadata: {
          holdfastArtifacts: [{ reference: "run://a/1" }, { reference: "run://a/12" }],
          kept: true,
        },
      },
    ];
    await session.append({ messages });
    const gone = "[artifact unavailable after run]";
    const sent = store.calls.at(-1)?.given as { messages: readonly Message[] };
    expect(sent.messages[0]?.metadata).toEqual({ kept: true });
    expect(sent.messages[0]?.content).toMatchObject([
      { text: `see ${gone} and ${gone}` },
      { content: { at: gone, n: 1 } },
    ]);
  });

  test("[S14] a projection gets the messages unfiltered and gives what the store returns", async () => {
    const { store, session } = open({ actorId: "ann" });
    await session.append({ messages: [], metadata: { title: "t" } });
    const messages = given.map(createMessage);
    expect(await session.projectConversation({ messages })).toEqual({ shown: given.length });
    expect(store.calls.at(-1)?.given).toEqual({ actorId: "ann", messages, metadata: { title: "t" } });
    await session.projectConversation({ messages: [], metadata: { own: 1 } });
    expect(store.calls.at(-1)?.given).toMatchObject({ metadata: { own: 1 } });
  });

  test("[S14] a store that shows nothing gives undefined", async () => {
    const session = new Session({ id: "s", store: new MemoryStore() });
    expect(await session.projectConversation({ messages: [say("a")] })).toBeUndefined();
  });
});

describe("Session: what the store answers", () => {
  const good = { messages: [], state: {}, metadata: {}, revision: { generation: 0, count: 0 } };
  const nonsense: readonly (readonly [string, unknown])[] = [
    ["text", "snapshot"],
    ["a number", 7],
    ["false", false],
    ["an array", []],
    ["nothing inside", {}],
    ["no messages", { ...good, messages: undefined }],
    ["messages that are no array", { ...good, messages: {} }],
    ["a message that is none", { ...good, messages: [7], revision: { generation: 0, count: 1 } }],
    [
      "a message of an unknown role",
      { ...good, messages: [{ id: "a", role: "x", createdAt: "2026-01-01T00:00:00Z" }] },
    ],
    [
      "a message without an id",
      { ...good, messages: [{ role: "user" }], revision: { generation: 0, count: 1 } },
    ],
    ["state that is no object", { ...good, state: [] }],
    ["state that is no JSON", { ...good, state: { at: new Date(0) } }],
    ["no metadata", { ...good, metadata: null }],
    ["no revision", { ...good, revision: undefined }],
    ["a negative count", { ...good, revision: { generation: 0, count: -1 } }],
    ["half a generation", { ...good, revision: { generation: 0.5, count: 0 } }],
    ["a count that is not the messages'", { ...good, revision: { generation: 0, count: 3 } }],
    ["damage without a place", { ...good, damaged: [{ reason: "x" }] }],
    [
      "a getter that throws",
      Object.defineProperty({}, "messages", {
        get: () => {
          throw new Error("boom");
        },
      }),
    ],
  ];

  test.each(nonsense)(
    "[S11] a load answered with %s is a ProtocolError, and is not remembered",
    async (_, answer) => {
      const { store, session } = open();
      store.instead.load = () => answer;
      const error = await session.load().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ProtocolError);
      expect(String(error)).toContain("Session store returned an invalid value: ");
      delete store.instead.load;
      expect(await session.load()).toBeUndefined();
    },
  );

  test.each([["undefined", undefined], ["null", null], ...nonsense] as const)(
    "[S11] a write answered with %s is a ProtocolError; the write stands and is seen at the next load",
    async (_, answer) => {
      const { store, session } = open();
      const behind = new MemoryStore();
      store.instead.append = async (write) => {
        await behind.append("s", write);
        return answer;
      };
      await session.load();
      await expect(session.append({ messages: [say("a")] })).rejects.toBeInstanceOf(ProtocolError);
      store.instead.load = () => behind.load("s", {});
      expect((await session.load())?.messages).toHaveLength(1);
    },
  );

  test("[S11] undefined and null mean that there is no such session", async () => {
    for (const answer of [undefined, null]) {
      const { store, session } = open();
      store.instead.load = () => answer;
      expect(await session.load()).toBeUndefined();
    }
  });

  test("[S11] messages as plain data are read, and what is handed on is frozen and the session's own", async () => {
    const { store, session } = open();
    const state = { list: [1] };
    const answer = {
      ...good,
      state,
      messages: [{ id: "a", role: "user", content: "hi", metadata: {}, createdAt: "2026-01-01T00:00:00Z" }],
      revision: { generation: 2, count: 1 },
      damaged: [{ index: 0, reason: "torn" }],
    };
    store.instead.load = () => answer;
    const snapshot = await session.load();
    state.list.push(2);
    expect(snapshot?.state).toEqual({ list: [1] });
    expect(snapshot?.damaged).toEqual([{ index: 0, reason: "torn" }]);
    for (const part of [
      snapshot,
      snapshot?.messages,
      snapshot?.messages[0],
      snapshot?.state,
      snapshot?.revision,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("[S12] failures of the store reach the caller unchanged", async () => {
    const failure = { not: "even an error" };
    const { store, session } = open();
    await session.append({ messages: [say("a")] });
    for (const [call, ask] of [
      ["load", () => session.reload()],
      ["append", () => session.append({ messages: [] })],
      ["replace", () => session.replace({ messages: [] })],
    ] as const) {
      for (const fail of [
        () => Promise.reject(failure),
        () => {
          throw failure;
        },
      ]) {
        store.instead[call] = fail;
        await expect(ask()).rejects.toBe(failure);
        delete store.instead[call];
      }
    }
    expect(await session.history()).toHaveLength(1);
  });
});

describe("Session: work and operations", () => {
  test("[S13] work is handed to the store with the session's id and actor", async () => {
    const { store, session } = open({ actorId: "ann" });
    const trail: string[] = [];
    const results = await Promise.all(
      ["a", "b"].map((name) =>
        session.synchronize(async () => {
          trail.push(`${name}1`);
          await session.append({ messages: [say(name)] });
          trail.push(`${name}2`);
          return name;
        }),
      ),
    );
    expect(results).toEqual(["a", "b"]);
    expect(trail).toEqual(["a1", "a2", "b1", "b2"]);
    expect(store.calls[0]).toMatchObject({ name: "synchronize", id: "s", given: { actorId: "ann" } });
  });

  test("[S15] every load, write and projection happens in the name of the session's operation", async () => {
    const { store, session } = open({ operationId: "op-1" });
    await session.load();
    await session.append({ messages: [say("a")] });
    await session.replace({ messages: [] });
    await session.projectConversation({ messages: [] });
    await session.reload();
    expect(store.calls.map(({ name, operation }) => [name, operation])).toEqual([
      ["load", "op-1"],
      ["append", "op-1"],
      ["replace", "op-1"],
      ["projectConversation", "op-1"],
      ["load", "op-1"],
    ]);
    const unnamed = open();
    await unnamed.session.append({ messages: [] });
    expect(unnamed.store.calls.map(({ operation }) => operation)).toEqual([undefined, undefined]);
  });

  test("[S15] a checkpoint may name a parent operation instead", async () => {
    const { store, session } = open({ operationId: "op-1" });
    await session.checkpoint({ messages: [say("a")], parentOperationId: "parent" });
    await session.checkpoint({ messages: [], parentOperationId: "other" });
    await session.checkpoint({ messages: [say("b")] });
    expect(store.calls.map(({ name, operation }) => [name, operation])).toEqual([
      ["load", "parent"],
      ["append", "parent"],
      ["replace", "other"],
      ["append", "op-1"],
    ]);
  });
});
