import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import {
  createMessage,
  isMessage,
  type MessageInput,
  parseMessage,
  serializeMessage,
  textOf,
} from "../../src/model/message.ts";
import { messageEquals } from "../../src/model/message-equality.ts";
import { withoutReasoning } from "../../src/model/reasoning.ts";
import { isTimestamp } from "../../src/model/timestamp.ts";
import { anyMessageInput, anyReasoning } from "./arbitraries.ts";
import { invalidInputOf } from "./refusal.ts";

const make = (fields: object) => createMessage({ role: "user", content: "hi", ...fields } as MessageInput);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const throwing = Object.defineProperty({ role: "user" }, "content", {
  enumerable: true,
  get: () => {
    throw new RangeError("a getter ran");
  },
});

describe("making messages", () => {
  test("[M1] the five roles are accepted", () => {
    for (const role of ["system", "developer", "user", "assistant", "tool"] as const) {
      expect(createMessage({ role, content: "x" }).role).toBe(role);
    }
  });

  const roles: readonly unknown[] = [
    "",
    "User",
    "model",
    "function",
    "constructor",
    null,
    undefined,
    1,
    ["user"],
    {},
  ];
  test.each(roles.map((role) => ({ role })))("[M1] the role $role is refused", (fields) => {
    expect(invalidInputOf(() => make(fields)).path).toBe("message.role");
    expect(invalidInputOf(() => parseMessage({ ...serializeMessage(make({})), ...fields })).path).toBe(
      "message.role",
    );
  });

  const wrong: readonly [what: string, input: unknown, path: string][] = [
    ["nothing", undefined, "message"],
    ["null", null, "message"],
    ["text", "hi", "message"],
    ["an array", [], "message"],
    ["a number", 4, "message"],
    ["metadata that is null", { role: "user", metadata: null }, "message.metadata"],
    ["metadata that is an array", { role: "user", metadata: [] }, "message.metadata"],
    ["metadata with a date", { role: "user", metadata: { at: new Date(0) } }, "message.metadata.at"],
    [
      "metadata with a symbol as its only key",
      { role: "user", metadata: { [Symbol("s")]: 1 } },
      "message.metadata[Symbol(s)]",
    ],
    ["an instance of a class as metadata", { role: "user", metadata: new Map() }, "message.metadata"],
    [
      "a field that messages do not have",
      { role: "assistant", content: null, tool_calls: [] },
      "message.tool_calls",
    ],
    ["a time that is a Date", { role: "user", createdAt: new Date(0) }, "message.createdAt"],
    ["a time that is a number", { role: "user", createdAt: 0 }, "message.createdAt"],
    ["a time that does not exist", { role: "user", createdAt: "2025-02-29T00:00:00Z" }, "message.createdAt"],
    ["a time without a zone", { role: "user", createdAt: "2025-02-28T00:00:00" }, "message.createdAt"],
    ["an id that is null", { role: "user", id: null }, "message.id"],
    ["an id that is blank", { role: "user", id: " " }, "message.id"],
    ["an id that is too long", { role: "user", id: "x".repeat(129) }, "message.id"],
    ["a getter that throws", throwing, "message"],
  ];
  test.each(wrong)("[H10] a message made of %s is refused by name", (_what, input, path) => {
    expect(invalidInputOf(() => createMessage(input as MessageInput)).path).toBe(path);
  });

  const unreadable: readonly [what: string, change: object, path: string][] = [
    ["no id", { id: undefined }, "message.id"],
    ["a blank id", { id: "" }, "message.id"],
    ["no time", { createdAt: undefined }, "message.createdAt"],
    ["a time that is none", { createdAt: "yesterday" }, "message.createdAt"],
    ["metadata that is text", { metadata: "m" }, "message.metadata"],
    ["a field of another kind", { generation: 1 }, "message.generation"],
  ];
  test.each(unreadable)("[M4] a stored message with %s is refused by name", (_what, change, path) => {
    expect(invalidInputOf(() => parseMessage({ ...serializeMessage(make({})), ...change })).path).toBe(path);
  });

  test("[M4] what is no object at all is refused as a stored message", () => {
    for (const value of [undefined, null, "{}", 1, [], () => 1]) {
      expect(invalidInputOf(() => parseMessage(value)).path).toBe("message");
    }
  });

  test("[M8] every message has an id of its own and the time it was made", () => {
    const before = new Date().toISOString();
    const messages = Array.from({ length: 500 }, () => make({}));
    expect(messages.every((message) => uuid.test(message.id))).toBe(true);
    expect(new Set(messages.map((message) => message.id)).size).toBe(500);
    expect(messages.every((message) => isTimestamp(message.createdAt) && message.createdAt >= before)).toBe(
      true,
    );
  });

  test("[M8] an id and a time that are given stay as they are, wherever the message goes", () => {
    const message = make({ id: "mine", createdAt: "2024-02-29T23:59:59.123456+05:30" });
    expect(message).toMatchObject({ id: "mine", createdAt: "2024-02-29T23:59:59.123456+05:30" });
    expect(parseMessage(serializeMessage(message))).toMatchObject({
      id: "mine",
      createdAt: message.createdAt,
    });
    expect(createMessage(message)).toBe(message);
    expect(createMessage({ ...message, content: "other" }).id).toBe("mine");
  });

  test("[D4] metadata is copied and frozen; changing what was given changes nothing", () => {
    const metadata = { tags: ["a"], deep: { n: 1 } };
    const message = make({ metadata });
    metadata.tags.push("b");
    metadata.deep.n = 2;
    expect(message.metadata).toEqual({ tags: ["a"], deep: { n: 1 } });
    expect(Object.isFrozen(message.metadata.deep)).toBe(true);
    expect(() => {
      (message.metadata as { tags: string[] }).tags.push("c");
    }).toThrow(TypeError);
  });

  test("[D3] hostile keys of metadata are data", () => {
    const metadata = JSON.parse('{"__proto__":{"transient":true},"constructor":1}') as JsonObject;
    const message = parseMessage(JSON.parse(JSON.stringify(serializeMessage(make({ metadata })))));
    expect(Object.keys(message.metadata)).toEqual(["__proto__", "constructor"]);
    expect(message.metadata.transient).toBeUndefined();
  });

  test("[M8] only what this library made counts as a message; a copy is read anew", () => {
    const message = make({});
    expect(isMessage(message)).toBe(true);
    expect(isMessage({ ...message })).toBe(false);
    expect(isMessage(null)).toBe(false);
    expect(messageEquals(createMessage({ ...message }), message)).toBe(true);
  });
});

describe("reading messages", () => {
  test("[M5] the text is the text blocks with nothing between, without reasoning and tools", () => {
    const message = make({
      role: "assistant",
      content: [
        { type: "reasoning", text: "secret" },
        "one ",
        { type: "tool_use", id: "i", name: "n", input: { text: "call" } },
        "two",
        {
          type: "tool_result",
          toolUseId: "i",
          content: [{ type: "text", text: "result" }],
          status: "success",
        },
        { type: "document", data: new Uint8Array(1), mediaType: "text/plain", name: "file" },
      ],
    });
    expect(textOf(message)).toBe("one two");
    expect(textOf(make({ content: [] }))).toBe("");
  });

  test("[M6] a message without reasoning is the same object", () => {
    const message = make({
      content: [
        "a",
        { type: "tool_result", toolUseId: "i", content: [{ type: "text", text: "b" }, 1], status: "success" },
      ],
    });
    expect(withoutReasoning(message)).toBe(message);
  });

  test("[M6] reasoning goes at every depth of tool results, and nothing else goes", () => {
    const inner = (content: unknown) => ({ type: "tool_result", toolUseId: "i", content, status: "error" });
    const thought = { type: "reasoning", text: "t" };
    const message = make({
      content: [
        thought,
        "a",
        inner([thought, "b", inner([thought, 1]), { type: "reasoning" }]),
        inner({ type: "reasoning" }),
      ],
    });
    const open = withoutReasoning(message);
    expect(open.content).toEqual([
      { type: "text", text: "a" },
      inner(["b", inner([1])]),
      inner({ type: "reasoning" }),
    ]);
    expect(open).toMatchObject({ id: message.id, createdAt: message.createdAt, role: "user" });
    expect(Object.isFrozen(open) && isMessage(open)).toBe(true);
    expect(message.content.length).toBe(4);
  });

  test("[M6] nothing of any message is left that says reasoning, and doing it twice changes nothing", () => {
    fc.assert(
      fc.property(anyMessageInput, anyReasoning, (input, thought) => {
        const message = createMessage({ ...input, content: [...((input.content ?? []) as []), thought] });
        const open = withoutReasoning(message);
        expect(open).not.toBe(message);
        expect(reasoningIn(open.content)).toBe(0);
        expect(withoutReasoning(open)).toBe(open);
      }),
      { numRuns: 300 },
    );
  });
});

/** Blocks of reasoning among blocks and in tool results among them. */
function reasoningIn(items: readonly unknown[]): number {
  let found = 0;
  for (const item of items as readonly { type?: unknown; content?: unknown }[]) {
    if (item?.type === "reasoning") found += 1;
    if (item?.type === "tool_result" && Array.isArray(item.content)) found += reasoningIn(item.content);
  }
  return found;
}
