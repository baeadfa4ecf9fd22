import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Content, ToolResultBlock } from "../../src/model/content.ts";
import { createMessage, type Message, type Role, serializeMessage } from "../../src/model/message.ts";
import { NO_RESULT, toModelMessages } from "../../src/model/model-messages.ts";

const call = (id: string): Content => ({ type: "tool_use", id, name: "look", input: { id } });
const result = (id: string, content = `found ${id}`): ToolResultBlock => ({
  type: "tool_result",
  toolUseId: id,
  content,
  status: "success",
});
const lost = (id: string): ToolResultBlock => ({ ...result(id, NO_RESULT), status: "error" });
const said = (role: Role, ...content: (string | Content)[]): Message => createMessage({ role, content });

/** A history in short: who says what. */
const told = (history: readonly Message[]): [Role, Content[]][] =>
  history.map((message) => [message.role, [...message.content]]);

/** The first thing wrong with the calls and results of a history, as a model's server would complain of it. */
function faultOf(history: readonly Message[]): string | undefined {
  let open: string[] = [];
  for (const [at, message] of history.entries()) {
    for (const [blockAt, block] of message.content.entries()) {
      const called = message.content.slice(0, blockAt).some(({ type }) => type === "tool_use");
      if (block.type === "tool_result") {
        const place = open.indexOf(block.toolUseId);
        if (place === -1) return `message ${at}: a result without a call before it`;
        open = open.filter((_, index) => index !== place);
      } else if (block.type === "tool_use") {
        if (open.length > 0 && !called) return `message ${at}: calls are open`;
        open.push(block.id);
      } else if (open.length > 0 && !called) {
        return `message ${at}: words before the results`;
      }
    }
    if (message.content.length === 0 && open.length > 0) return `message ${at}: a message before the results`;
  }
  return open.length === 0 ? undefined : "calls are open at the end";
}

describe("a history for a model", () => {
  test("[S16] a history that is right is handed on message by message as it is", () => {
    const history = [
      said("system", "be kind"),
      said("user", "where?"),
      said("assistant", "I look", call("a"), call("b")),
      said("tool", result("b")),
      said("tool", result("a")),
      said("assistant", "there"),
      said("assistant", call("a")),
      said("user", result("a"), "and now?"),
      said("assistant"),
    ];
    const given = toModelMessages(history);
    expect(given.length).toBe(history.length);
    expect(given.every((message, index) => message === history[index])).toBe(true);
  });

  test("[S16] a call without a result gets an error result, right behind it", () => {
    const caller = said("assistant", call("a"), call("b"));
    const history = [caller, said("tool", result("a")), said("user", "hello?")];
    expect(told(toModelMessages(history))).toEqual([
      ["assistant", [call("a"), call("b")]],
      ["tool", [result("a")]],
      ["tool", [lost("b")]],
      ["user", [{ type: "text", text: "hello?" }]],
    ]);
    expect(told(toModelMessages([caller]))[1]).toEqual(["tool", [lost("a"), lost("b")]]);
  });

  test("[S16] a late result moves to its call, as the message it came in", () => {
    const late = said("tool", result("b"));
    const history = [
      said("assistant", call("a"), call("b")),
      said("tool", result("a")),
      said("user", "well?"),
      late,
    ];
    const given = toModelMessages(history);
    expect(told(given).map(([role]) => role)).toEqual(["assistant", "tool", "tool", "user"]);
    expect(given[2]).toBe(late);
  });

  test("[S16] a late result beside words moves alone, and the words stay where they were", () => {
    const mixed = said("user", "by the way", result("a"), "thanks");
    const given = toModelMessages([said("assistant", call("a")), said("system", "note"), mixed]);
    expect(told(given)).toEqual([
      ["assistant", [call("a")]],
      ["tool", [result("a")]],
      ["system", [{ type: "text", text: "note" }]],
      [
        "user",
        [
          { type: "text", text: "by the way" },
          { type: "text", text: "thanks" },
        ],
      ],
    ]);
    expect(given[3]?.id).toBe(mixed.id);
    expect(new Set(given.map((message) => message.id)).size).toBe(4);
  });

  test("[S16] a result without a call, before its call, or the second for it, is left out", () => {
    const history = [
      said("tool", result("a")),
      said("user", result("x"), "hi"),
      said("assistant", call("a")),
      said("tool", result("a"), result("a", "again")),
      said("tool", result("a", "once more")),
    ];
    expect(told(toModelMessages(history))).toEqual([
      ["user", [{ type: "text", text: "hi" }]],
      ["assistant", [call("a")]],
      ["tool", [result("a")]],
    ]);
  });

  test("[S16] an id that is used again in each turn pairs each result with the call nearest before it", () => {
    const history = [
      said("assistant", call("call_1")),
      said("user", "stop"),
      said("assistant", call("call_1")),
      said("tool", result("call_1", "second")),
    ];
    expect(told(toModelMessages(history)).map(([, content]) => content)).toEqual([
      [call("call_1")],
      [lost("call_1")],
      [{ type: "text", text: "stop" }],
      [call("call_1")],
      [result("call_1", "second")],
    ]);
  });

  test("[S16] an empty message between a call and its result does not part them", () => {
    const given = toModelMessages([
      said("assistant", call("a")),
      createMessage({ role: "user" }),
      said("tool", result("a")),
    ]);
    expect(told(given).map(([role]) => role)).toEqual(["assistant", "tool", "user"]);
  });

  test("[S16] ids of any kind can stand for what is added", () => {
    for (const id of [`${"x".repeat(99)}\ud83d\ude00`, "y".repeat(128), "\ud83d\ude00".repeat(64)]) {
      const given = toModelMessages([createMessage({ role: "assistant", content: [call("a")], id })]);
      expect(given.length).toBe(2);
      expect(given[1]?.id).not.toBe(id);
    }
  });

  test("[S16] words stand before a result, and a call behind it: the result comes first by itself", () => {
    const history = [said("user", call("c")), said("user", "", result("c"), call("a"), result("a"))];
    expect(told(toModelMessages(history))).toEqual([
      ["user", [call("c")]],
      ["tool", [result("c")]],
      ["user", [{ type: "text", text: "" }, call("a"), result("a")]],
    ]);
  });

  const anyPiece = fc.oneof(
    fc.constantFrom("a", "b", "c").map(call),
    fc
      .tuple(fc.constantFrom("a", "b", "c", "x"), fc.string({ maxLength: 2 }))
      .map(([id, text]) => result(id, text)),
    fc.string({ maxLength: 2 }).map((text): Content => ({ type: "text", text })),
  );
  const anyHistory = fc.array(
    fc
      .record({
        role: fc.constantFrom<Role>("user", "assistant", "tool", "system"),
        content: fc.array(anyPiece, { maxLength: 4 }),
      })
      .map((input) => createMessage(input)),
    { maxLength: 8 },
  );

  test("[S16] whatever the history, what comes out is right, is stable, and loses no word and no call", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const before = JSON.stringify(history.map(serializeMessage));
        const given = toModelMessages(history);
        expect(faultOf(given)).toBeUndefined();
        const kept = (messages: readonly Message[]) =>
          messages.flatMap((message) => message.content.filter((block) => block.type !== "tool_result"));
        expect(kept(given)).toEqual(kept(history));
        const again = toModelMessages(given);
        expect(again.length).toBe(given.length);
        expect(again.every((message, index) => message === given[index])).toBe(true);
        expect(toModelMessages(history)).toEqual(given);
        if (faultOf(history) === undefined) {
          expect(given.length).toBe(history.length);
          expect(given.every((message, index) => message === history[index])).toBe(true);
        }
        expect(new Set(given.map((message) => message.id)).size).toBe(given.length);
        expect(JSON.stringify(history.map(serializeMessage))).toBe(before);
      }),
      { numRuns: 3_000 },
    );
  });

  test("[S16] every result whose call came before it is there once, unless the call had a nearer one", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }),
        fc.integer(),
        (order, seed) => {
          // Each call has one result, somewhere behind it.
          const history: Message[] = [];
          const waiting: number[] = [];
          for (const [index, n] of order.entries()) {
            history.push(said("assistant", call(`c${n}`)));
            waiting.push(n);
            if ((seed >> (index % 16)) & 1)
              history.push(said("tool", result(`c${waiting.pop()}`)), said("user", "hm"));
          }
          for (const n of waiting) history.push(said("user", "ah", result(`c${n}`)));
          const results = toModelMessages(history).flatMap((message) =>
            message.content.filter((block) => block.type === "tool_result"),
          );
          expect(results.map((block) => block.toolUseId)).toEqual(order.map((n) => `c${n}`));
          expect(results.every((block) => block.status === "success")).toBe(true);
        },
      ),
    );
  });
});
