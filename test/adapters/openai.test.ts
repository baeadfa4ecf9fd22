import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fromOpenAI, inputsFromOpenAI, type OpenAIMessage, toOpenAI } from "../../src/adapters/openai.ts";
import { parseMessage, serializeMessage, textOf } from "../../src/model/message.ts";
import { toModelMessages } from "../../src/model/model-messages.ts";
import { persistable } from "../../src/model/persistable.ts";

interface Conversation {
  readonly id: string;
  readonly messages: readonly OpenAIMessage[];
}

const conversations: readonly Conversation[] = readFileSync("test/data/agent-transcripts.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Conversation);

/** Through ours, stored and read again, and back. */
function roundTrip(messages: readonly object[]): OpenAIMessage[] {
  const stored = JSON.parse(JSON.stringify(fromOpenAI(messages).map(serializeMessage))) as unknown[];
  return toOpenAI(stored.map(parseMessage));
}

describe("real conversations", () => {
  test("all 60 agent transcripts come back deep-equal, stored in between", () => {
    expect(conversations.length).toBe(60);
    for (const { messages } of conversations) expect(roundTrip(messages)).toEqual(messages);
  });

  test("every message is one message, with calls and results as blocks and texts as they were", () => {
    const counted = { calls: 0, results: 0 };
    for (const { messages } of conversations) {
      const ours = fromOpenAI(messages);
      expect(ours.map((message) => message.role)).toEqual(messages.map((message) => message.role));
      for (const [index, message] of ours.entries()) {
        const theirs = messages[index] as OpenAIMessage;
        if (theirs.role !== "tool") expect(textOf(message)).toBe(theirs.content ?? "");
        for (const block of message.content) {
          if (block.type === "tool_use") counted.calls += 1;
          if (block.type === "tool_result") counted.results += 1;
        }
      }
    }
    expect(counted).toEqual({ calls: 361, results: 361 });
  });

  test("[S9, S16] stored without system prompts, they come back as the model may be given them", () => {
    for (const { messages } of conversations) {
      const stored = persistable(fromOpenAI(messages));
      const spoken = messages.filter((message) => message.role !== "system");
      expect(toOpenAI(stored)).toEqual(spoken);
      expect(faults(toOpenAI(toModelMessages(stored)))).toEqual([]);
    }
  });

  test("[M8] a run that hands back its whole history finds its stored messages again", () => {
    for (const { messages } of conversations) {
      const stored = persistable(inputsFromOpenAI(messages.slice(0, -2)));
      const again = persistable(inputsFromOpenAI(messages), stored);
      expect(again.slice(0, stored.length).every((message, index) => message === stored[index])).toBe(true);
    }
  });
});

/** Calls without their results right behind them. */
function faults(messages: readonly OpenAIMessage[]): string[] {
  let open = new Set<string>();
  const found: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id)) found.push(`no call ${message.tool_call_id}`);
      continue;
    }
    found.push(...open);
    open = new Set(message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.id) : []);
  }
  return [...found, ...open];
}
