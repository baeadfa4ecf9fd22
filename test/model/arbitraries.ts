import fc from "fast-check";
import type { Content, ReasoningBlock, ToolResultBlock } from "../../src/model/content.ts";
import type { JsonObject, JsonValue } from "../../src/model/json.ts";
import type { MessageInput, Role } from "../../src/model/message.ts";

/** Text of any UTF-16 code units, halves of surrogate pairs among them. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc
    .array(fc.integer({ min: 0xd7f0, max: 0xe00f }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom("", "__proto__", "constructor", "prototype", "a.b", "toString", "0"),
);

/** JSON of any shape, hostile keys included. */
export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; object: JsonObject }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.oneof(
        anyText,
        fc.boolean(),
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
      ),
      fc.array(tie("value"), { maxLength: 4 }),
      tie("object"),
    ),
    object: fc.dictionary(anyText, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  }),
).value;

export const anyObject: fc.Arbitrary<JsonObject> = fc.dictionary(anyText, anyJson, {
  maxKeys: 4,
  noNullPrototype: true,
});

export const anyBytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 40 });

const filled = fc.string({ minLength: 1, maxLength: 8 });
const text: fc.Arbitrary<Content> = anyText.map((said) => ({ type: "text", text: said }));
const image: fc.Arbitrary<Content> = fc.record(
  { type: fc.constant("image" as const), data: anyBytes, mediaType: fc.string(), name: fc.string() },
  { requiredKeys: ["type", "data", "mediaType"] },
);
const document: fc.Arbitrary<Content> = fc.record({
  type: fc.constant("document" as const),
  data: anyBytes,
  mediaType: fc.string(),
  name: fc.string(),
});
const toolUse: fc.Arbitrary<Content> = fc.record({
  type: fc.constant("tool_use" as const),
  id: filled,
  name: filled,
  input: anyObject,
});
export const anyReasoning: fc.Arbitrary<ReasoningBlock> = fc.oneof(
  fc.record(
    {
      type: fc.constant("reasoning" as const),
      text: anyText,
      signature: anyText,
      details: fc.array(anyObject, { maxLength: 2 }),
    },
    { requiredKeys: ["type"] },
  ),
  fc.record(
    {
      type: fc.constant("reasoning" as const),
      redacted: anyBytes,
      details: fc.array(anyObject, { maxLength: 2 }),
    },
    { requiredKeys: ["type", "redacted"] },
  ),
);

/** Not to be taken for a block, and so JSON inside a tool's result. */
const notBlock = anyJson.filter((value) => typeof value !== "object" || value === null || !("type" in value));

const blocks = fc.letrec<{ block: Content; result: ToolResultBlock }>((tie) => ({
  result: fc.record({
    type: fc.constant("tool_result" as const),
    toolUseId: filled,
    content: fc.oneof(
      notBlock.filter((value) => !Array.isArray(value)),
      fc.array(fc.oneof({ weight: 2, arbitrary: notBlock }, { weight: 3, arbitrary: tie("block") }), {
        maxLength: 3,
      }),
    ),
    status: fc.constantFrom("success" as const, "error" as const),
  }),
  block: fc.oneof({ maxDepth: 3 }, text, image, document, toolUse, anyReasoning, tie("result")),
}));

/** A block of any type, tool results with blocks inside among them. */
export const anyBlock: fc.Arbitrary<Content> = blocks.block;
export const anyToolResult: fc.Arbitrary<ToolResultBlock> = blocks.result;
export const anyRole: fc.Arbitrary<Role> = fc.constantFrom(
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
);

/** What a message is made of. */
export const anyMessageInput: fc.Arbitrary<MessageInput> = fc.record(
  { role: anyRole, content: fc.array(anyBlock, { maxLength: 4 }), metadata: anyObject },
  { requiredKeys: ["role", "content"] },
);
