import { describe, expect, test } from "vitest";
import { fromOpenAI, inputsFromOpenAI, toOpenAI } from "../../src/adapters/openai.ts";
import { InvalidInputError } from "../../src/model/errors.ts";
import {
  createMessage,
  type Message,
  parseMessage,
  serializeMessage,
  textOf,
} from "../../src/model/message.ts";
import { toModelMessages } from "../../src/model/model-messages.ts";
import { persistable } from "../../src/model/persistable.ts";
import { assistant, call, data, shapes } from "./openai-shapes.ts";

const one = (message: object): Message => fromOpenAI([message])[0] as Message;

/** Through ours, stored and read again, and back. */
function roundTrip(messages: readonly object[]) {
  const stored = JSON.parse(JSON.stringify(fromOpenAI(messages).map(serializeMessage))) as unknown[];
  return toOpenAI(stored.map(parseMessage));
}

describe("shapes of messages", () => {
  test.each(shapes)("[H10] %s comes back exactly as it was, stored in between", (_what, message) => {
    const [back, ...others] = roundTrip([message]);
    expect(others).toEqual([]);
    expect(back).toEqual(message);
    expect(JSON.stringify(sorted(back))).toBe(JSON.stringify(sorted(message)));
  });

  test("simple messages leave nothing in the metadata", () => {
    const simple = [
      { role: "user", content: "hi" },
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
        ],
      },
      assistant({ tool_calls: [call('{"a":1}')] }),
      { role: "tool", tool_call_id: "c1", content: "found" },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "found" }] },
    ];
    expect(fromOpenAI(simple).map((message) => message.metadata)).toEqual([{}, {}, {}, {}, {}]);
  });

  test("what is said becomes text, calls become calls, bytes become bytes", () => {
    expect(textOf(one({ role: "assistant", content: "a", refusal: "b" }))).toBe("ab");
    expect(textOf(one({ role: "assistant", content: [{ type: "refusal", refusal: "no" }] }))).toBe("no");
    expect(one(assistant({ tool_calls: [call('{ "a": 1 }'), call("{", { id: "c2" })] })).content).toEqual([
      { type: "tool_use", id: "c1", name: "look", input: { a: 1 } },
      { type: "tool_use", id: "c2", name: "look", input: {} },
    ]);
    expect(
      one(assistant({ tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "x" } }] }))
        .content,
    ).toEqual([{ type: "tool_use", id: "c", name: "sql", input: { input: "x" } }]);
    expect(
      one({
        role: "user",
        content: [{ type: "file", file: { file_data: `data:a/b;base64,${data}`, filename: "f" } }],
      }).content,
    ).toEqual([{ type: "document", data: Uint8Array.of(0, 1, 2), mediaType: "a/b", name: "f" }]);
    expect(one({ role: "tool", tool_call_id: "c1", content: "found" })).toMatchObject({
      role: "tool",
      content: [{ type: "tool_result", toolUseId: "c1", content: "found", status: "success" }],
    });
  });

  test("[S16] legacy results find their calls", () => {
    const history = fromOpenAI([
      assistant({ function_call: { name: "look", arguments: "{}" } }),
      { role: "user", content: "well?" },
      { role: "function", name: "look", content: "found" },
    ]);
    expect(toOpenAI(toModelMessages(history)).map((message) => message.role)).toEqual([
      "assistant",
      "function",
      "user",
    ]);
  });

  test("[S9, H7] nothing that a model thought is stored, in whatever field it came", () => {
    const secret = "s3cr3t";
    const only = [
      assistant({ content: "so", reasoning_content: secret }),
      assistant({
        content: "so",
        reasoning: secret,
        reasoning_details: [{ text: secret }],
        thinking_blocks: [secret],
        thinking: { secret },
      }),
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: secret },
          { type: "redacted_thinking", data: secret },
          { type: "text", text: "so" },
        ],
      },
      {
        role: "tool",
        tool_call_id: "c",
        content: [
          { type: "reasoning", text: secret },
          { type: "text", text: "so" },
        ],
      },
    ];
    const stored = persistable(fromOpenAI(only));
    expect(JSON.stringify(stored.map(serializeMessage))).not.toContain(secret);
    expect(toOpenAI(stored)).toEqual([
      { role: "assistant", content: "so" },
      { role: "assistant", content: "so" },
      { role: "assistant", content: [{ type: "text", text: "so" }] },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "so" }] },
    ]);
  });

  const wrong: readonly [what: string, messages: unknown, path: string][] = [
    ["an unknown role", [{ role: "user", content: "a" }, { role: "robot" }], "messages[1].role"],
    ["no role", [{ content: "a" }], "messages[0].role"],
    ["text", ["hi"], "messages[0]"],
    ["null", [null], "messages[0]"],
    ["an array", [[]], "messages[0]"],
    ["a date in it", [{ role: "user", content: new Date(0) }], "messages[0].content"],
    [
      "a getter in it",
      [Object.defineProperty({ role: "user" }, "content", { enumerable: true, get: () => "a" })],
      "messages[0].content",
    ],
    ["NaN in it", [{ role: "user", content: "a", weight: Number.NaN }], "messages[0].weight"],
  ];
  test.each(wrong)("[H10] a message with %s is refused by its place", (_what, messages, path) => {
    expect(() => fromOpenAI(messages as object[])).toThrow(InvalidInputError);
    expect(() => fromOpenAI(messages as object[])).toThrow(
      new RegExp(`^${path.replace(/[[\].]/g, "\\$&")} `),
    );
    expect(() => inputsFromOpenAI(messages as object[])).toThrow(InvalidInputError);
  });

  test("[H10] what is no message of ours is refused on the way back", () => {
    for (const message of [
      null,
      "hi",
      {},
      { role: "robot" },
      { role: "user", content: [{ type: "video" }] },
    ]) {
      expect(() => toOpenAI([message as unknown as Message])).toThrow(/^messages\[0\]/);
    }
  });

  test("[H10] metadata.openai that somebody else wrote breaks nothing", () => {
    const hostile: unknown[] = [
      null,
      5,
      "x",
      [],
      {
        parts: "x",
        calls: { at: 0 },
        reasoning: [1],
        extra: [],
        absent: "role",
        role: "king",
        content: 5,
        refusal: 1,
      },
      {
        parts: [null, 5, { at: "0" }, { at: 1e308, raw: "tail" }, { at: -1 }, { at: 0.5, more: 1 }],
        calls: [{ at: 0, arguments: 5, as: "robot" }],
      },
      { calls: [{ at: 0, arguments: '{"other":1}' }] },
      { calls: [{ at: 0, as: "custom" }] },
      { calls: [{ at: 0, as: "function_call" }] },
    ];
    for (const openai of hostile) {
      const message = createMessage({
        role: "assistant",
        content: ["a", { type: "tool_use", id: "c", name: "n", input: { a: 1 } }],
        metadata: { openai: openai as never },
      });
      const [back] = toOpenAI([message]);
      expect(back).toMatchObject({
        role: "assistant",
        tool_calls: [{ id: "c", type: "function", function: { name: "n", arguments: '{"a":1}' } }],
      });
      expect(JSON.stringify(back?.content)).toContain('"a"');
    }
  });
});

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .map(([key, inner]): [string, unknown] => [key, sorted(inner)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
