import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { inputsFromOpenAI } from "../../src/adapters/openai.ts";
import { createMessage, type Message, serializeMessage } from "../../src/model/message.ts";
import { Session } from "../../src/session/session.ts";
import type { SessionStore } from "../../src/store/contract.ts";
import { DexieStore } from "../../src/store/dexie-store.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";
import { fakeBrowser } from "../support/fake-browser.ts";
import { RecordingStore } from "./recording-store.ts";

const lines = (file: string): string[] =>
  readFileSync(new URL(`../data/${file}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "");
const transcripts = lines("agent-transcripts.jsonl").map(
  (line) => JSON.parse(line) as { id: string; messages: object[] },
);
const chat = lines("group-chat.jsonl").map((line) => {
  const { text, speaker } = JSON.parse(line) as { text: string; speaker: string };
  return createMessage({ role: "user", content: text, metadata: { speaker } });
});
const json = (messages: readonly Message[]): unknown[] => messages.map(serializeMessage);

describe.each([
  ["MemoryStore", (): SessionStore => new MemoryStore()],
  ["DexieStore", (): SessionStore => new DexieStore({ name: "real", ...fakeBrowser() })],
])("Real conversations in %s", (_, makeStore) => {
  test("[S9] every agent transcript comes back message by message, without its system prompt", async () => {
    const store = makeStore();
    for (const { id, messages } of transcripts) {
      const given = inputsFromOpenAI(messages).map(createMessage);
      // As an agent does: a checkpoint after each turn, of everything so far.
      const session = new Session({ id, store });
      for (let end = 1; end < given.length; end += 6)
        await session.checkpoint({ messages: given.slice(0, end) });
      await session.checkpoint({ messages: given });
      const expected = given.filter(({ role }) => role !== "system");
      const read = await new Session({ id, store }).history();
      expect(json(read)).toEqual(json(expected));
    }
    expect(transcripts).toHaveLength(60);
  });
});

describe("A session of 10,784 messages", () => {
  test("[H11] a checkpoint of the unchanged history writes nothing, and one with a new message sends only that", async () => {
    const store = new RecordingStore();
    await new Session({ id: "chat", store }).append({ messages: chat });
    expect(chat).toHaveLength(10_784);
    store.calls.length = 0;
    const session = new Session({ id: "chat", store });
    const history = await session.history();
    expect(json(history)).toEqual(json(chat));
    await session.checkpoint({ messages: history });
    expect(store.names).toEqual(["load"]);
    const next = createMessage({ role: "assistant", content: "next" });
    await session.checkpoint({ messages: [...history, next] });
    expect(store.names).toEqual(["load", "append"]);
    expect(store.calls[1]?.given).toMatchObject({ messages: [next], expectedCount: 10_784 });
    // The same messages read from elsewhere are compared by value.
    const copies = json(history).map((message) => createMessage(structuredClone(message) as Message));
    await session.checkpoint({ messages: [...copies, next] });
    expect(store.names).toEqual(["load", "append"]);
  });
});
