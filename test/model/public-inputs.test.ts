import { describe, expect, test } from "vitest";
import { fromOpenAI, inputsFromOpenAI, toOpenAI } from "../../src/adapters/openai.ts";
import { createMessage, parseMessage, serializeMessage, textOf } from "../../src/model/message.ts";
import { toModelMessages } from "../../src/model/model-messages.ts";
import { persistable } from "../../src/model/persistable.ts";
import { withoutReasoning } from "../../src/model/reasoning.ts";
import { invalidInputOf } from "./refusal.ts";

type Call = (input: never) => unknown;

const ofOne: readonly [name: string, call: Call][] = [
  ["createMessage", createMessage],
  ["parseMessage", parseMessage],
  ["serializeMessage", serializeMessage],
  ["textOf", textOf],
  ["withoutReasoning", withoutReasoning],
];
const ofMany: readonly [name: string, call: Call, what: string][] = [
  ["persistable", persistable, "messages"],
  ["toModelMessages", toModelMessages, "history"],
  ["fromOpenAI", fromOpenAI, "messages"],
  ["inputsFromOpenAI", inputsFromOpenAI, "messages"],
  ["toOpenAI", toOpenAI, "messages"],
];
const noMessages: readonly [what: string, input: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["text", "hi"],
  ["a number", 5],
  ["an array", []],
  ["an empty object", {}],
  ["an unknown role", { id: "a", role: "robot", content: [], createdAt: "2024-01-01T00:00:00Z" }],
  ["a bad block", { id: "a", role: "user", content: [{ type: "text" }], createdAt: "2024-01-01T00:00:00Z" }],
];
const noLists: readonly unknown[] = [undefined, null, "hi", 5, true, {}, { length: 1, 0: {} }, () => []];

describe("what public functions refuse", () => {
  for (const [name, call] of ofOne) {
    test.each(noMessages)(`[H10] ${name} refuses %s as a message, by name`, (_what, input) => {
      expect(invalidInputOf(() => call(input as never)).path).toMatch(/^message($|\.)/);
    });
  }

  for (const [name, call, what] of ofMany) {
    test(`[H10] ${name} refuses what is no list`, () => {
      for (const input of noLists) expect(invalidInputOf(() => call(input as never)).path).toBe(what);
    });

    test.each(noMessages.slice(0, -1))(`[H10] ${name} refuses %s in a list, by its place`, (_what, input) => {
      const good = { id: "a", role: "user", content: "hi" };
      expect(invalidInputOf(() => call([good, input] as never)).path).toMatch(
        new RegExp(`^${what}\\[1\\]($|\\.)`),
      );
    });
  }

  test("[M6] a copy of a message that holds no reasoning is the same object too", () => {
    const copy = { ...createMessage({ role: "user", content: "hi" }) };
    expect(withoutReasoning(copy)).toBe(copy);
    expect(textOf(copy)).toBe("hi");
  });
});
