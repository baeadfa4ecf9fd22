import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromOpenAI, inputsFromOpenAI, toOpenAI } from "../../src/adapters/openai.ts";
import type { Content } from "../../src/model/content.ts";
import { type JsonObject, type JsonValue, jsonEquals } from "../../src/model/json.ts";
import { createMessage, type Message, parseMessage, serializeMessage } from "../../src/model/message.ts";
import { sameContent } from "../../src/model/message-equality.ts";
import { persistable } from "../../src/model/persistable.ts";
import { anyBlock, anyJson, anyMessageInput, anyObject, anyText } from "../model/arbitraries.ts";
import { shapes } from "./openai-shapes.ts";

const base64 = fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const dataUrl = fc
  .tuple(fc.constantFrom("image/png", "audio/wav", "a/b", ""), base64)
  .map(([type, data]) => `data:${type};base64,${data}`);
const some = <T extends object>(shape: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(shape, { requiredKeys: [] });

const part: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.record({ type: fc.constant("text"), text: anyText }),
  fc.record({ type: fc.constant("text"), text: anyText, cache_control: anyJson }, { requiredKeys: ["type"] }),
  fc.record({
    type: fc.constant("image_url"),
    image_url: some({ url: fc.oneof(dataUrl, fc.webUrl()), detail: anyText }),
  }),
  fc.record({
    type: fc.constant("input_audio"),
    input_audio: some({ data: base64, format: fc.constantFrom("wav", "mp3", "x") }),
  }),
  fc.record({
    type: fc.constant("file"),
    file: some({ file_data: dataUrl, filename: anyText, file_id: anyText }),
  }),
  fc.record({ type: fc.constant("refusal"), refusal: anyText }),
  fc.record({ type: fc.constantFrom("thinking", "reasoning", "redacted_thinking"), thinking: anyJson }),
  fc.record({ type: fc.constantFrom("document", "image", "tool_use", "tool_result", "x"), data: anyJson }),
  anyJson,
) as fc.Arbitrary<JsonValue>;

const args = fc.oneof(
  anyObject.map((input) => JSON.stringify(input)),
  anyObject.map((input) => JSON.stringify(input, null, 1)),
  anyText,
);
const called = fc.oneof(some({ name: fc.oneof(fc.constant("look"), anyText), arguments: args }), anyJson);
const call: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ id: anyText, type: fc.constant("function"), function: called }) },
  fc.record({
    id: anyText,
    type: fc.constant("custom"),
    custom: some({ name: anyText, input: anyText }),
    extra: anyJson,
  }),
  anyJson,
) as fc.Arbitrary<JsonValue>;

/** Messages that mean to be of the format, and some that only look so. */
const anyForeign: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      role: fc.constantFrom("system", "developer", "user", "assistant", "tool", "function"),
      content: fc.oneof(
        { weight: 2, arbitrary: anyText },
        { weight: 3, arbitrary: fc.array(part, { maxLength: 4 }) },
        fc.constant(null),
        anyJson,
      ),
      name: fc.oneof(anyText, anyJson),
      tool_call_id: fc.oneof(anyText, anyJson),
      tool_calls: fc.oneof({ weight: 3, arbitrary: fc.array(call, { maxLength: 3 }) }, anyJson),
      function_call: called,
      refusal: fc.oneof(anyText, anyJson),
      reasoning_content: fc.oneof(anyText, anyJson),
      reasoning_details: fc.array(anyObject, { maxLength: 2 }),
      ["__proto__"]: anyJson,
    },
    { requiredKeys: ["role"] },
  )
  .map((message) => JSON.parse(JSON.stringify(message)) as JsonObject);

describe("messages of the format, to ours and back", () => {
  test("[H10] whatever the message, it comes back as it was, stored in between", () => {
    fc.assert(
      fc.property(fc.array(anyForeign, { maxLength: 3 }), (messages) => {
        const stored = fromOpenAI(messages).map((message) =>
          parseMessage(JSON.parse(JSON.stringify(serializeMessage(message)))),
        );
        expect(stored.length).toBe(messages.length);
        const back = toOpenAI(stored) as unknown as JsonObject[];
        expect(back.length).toBe(messages.length);
        for (const [index, message] of messages.entries())
          expect(jsonEquals(back[index], message)).toBe(true);
      }),
      { numRuns: 1_500 },
    );
  });

  test("[S9, H7] whatever the message, what the model thought is not stored, and what is stored can go back", () => {
    const secret = "s3cr3t-thought";
    const thoughts = some({
      reasoning_content: fc.constant(secret),
      reasoning: fc.constantFrom<JsonValue>(secret, { secret }, [secret]),
      reasoning_details: fc.constantFrom<JsonValue>([{ text: secret }], [secret, 1]),
    });
    const thinking = fc.constantFrom<JsonValue>(
      { type: "thinking", thinking: secret },
      { type: "reasoning", text: secret, more: [1] },
    );
    const content = fc.oneof(anyText, fc.array(fc.oneof(part, thinking), { maxLength: 4 }));
    fc.assert(
      fc.property(anyForeign, thoughts, content, (message, thought, said) => {
        const thoughtful = message.role === "tool" || message.role === "function" ? {} : thought;
        const stored = persistable(fromOpenAI([{ ...message, ...thoughtful, content: said }]));
        expect(JSON.stringify(stored.map(serializeMessage))).not.toContain(secret);
        const back = toOpenAI(stored);
        expect(back.length).toBe(stored.length);
        expect(back.every(({ role }) => role === message.role)).toBe(true);
      }),
      { numRuns: 800 },
    );
  });

  test("[M8] the same messages without ids say the same", () => {
    for (const [, message] of shapes) {
      const [ours] = fromOpenAI([message]);
      const [input] = inputsFromOpenAI([message]);
      expect(input).not.toHaveProperty("id");
      expect(input).not.toHaveProperty("createdAt");
      expect(sameContent(createMessage(input as never), ours as Message)).toBe(true);
    }
  });
});

describe("our messages to the format and back", () => {
  /** What the format can say of a message of ours: its role, its words, pictures and files, its calls, its results. */
  const sayable = fc
    .record({
      words: fc.array(anyBlock.filter(isWords), { maxLength: 3 }),
      calls: fc.array(
        anyBlock.filter(({ type }) => type === "tool_use"),
        { maxLength: 3 },
      ),
      role: fc.constantFrom("system", "developer", "user", "assistant"),
    })
    .map(({ words, calls, role }) => createMessage({ role, content: [...words, ...calls] } as never));

  test("[H10] words, pictures, files and calls come back as they were", () => {
    fc.assert(
      fc.property(sayable, (message) => {
        const back = fromOpenAI(toOpenAI([message]));
        expect(back.length).toBe(1);
        expect(back[0]?.role).toBe(message.role);
        expect(back[0]?.content.map(said)).toEqual(spoken(message).map(said));
      }),
      { numRuns: 1_000 },
    );
  });

  test("[S16] each result becomes one tool message that says the same", () => {
    const result = anyBlock.filter(({ type }) => type === "tool_result");
    fc.assert(
      fc.property(fc.array(result, { minLength: 1, maxLength: 3 }), (results) => {
        const back = fromOpenAI(toOpenAI([createMessage({ role: "tool", content: results })]));
        expect(back.map((message) => message.role)).toEqual(results.map(() => "tool"));
        for (const [index, message] of back.entries()) {
          const [block] = message.content;
          const given = results[index] as Content;
          if (block?.type !== "tool_result" || given.type !== "tool_result")
            throw new Error("it is no result");
          expect(block.toolUseId).toBe(given.toolUseId);
          if (typeof given.content === "string") expect(block.content).toBe(given.content);
          else if (!Array.isArray(given.content)) expect(block.content).toBe(JSON.stringify(given.content));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("[S9] any message of ours can be written, without its reasoning, and what was written comes back exactly", () => {
    fc.assert(
      fc.property(fc.array(anyMessageInput, { maxLength: 3 }), (inputs) => {
        const written = toOpenAI(inputs);
        expect(toOpenAI(fromOpenAI(written))).toEqual(written);
        expect(JSON.stringify(written)).not.toContain('"reasoning"');
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Our blocks as the format can tell them apart: sound has no name there, a picture neither. */
function said(block: Content): unknown {
  if (block.type === "image") return [block.type, block.mediaType, block.data];
  if (block.type === "document") return [block.type, block.mediaType, block.data];
  return block;
}

/** A comma ends the media type of a data URL. */
function isWords(block: Content): boolean {
  return (
    block.type === "text" ||
    ((block.type === "image" || block.type === "document") && !block.mediaType.includes(","))
  );
}

function spoken(message: Message): readonly Content[] {
  return message.content.length === 0 ? [{ type: "text", text: "" }] : message.content;
}
