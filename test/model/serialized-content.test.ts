import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64 } from "../../src/model/base64.ts";
import type { Content, ContentInput } from "../../src/model/content.ts";
import { jsonEquals } from "../../src/model/json.ts";
import { createMessage, parseMessage, serializeMessage } from "../../src/model/message.ts";
import { messageEquals } from "../../src/model/message-equality.ts";
import { anyBytes, anyMessageInput } from "./arbitraries.ts";
import { invalidInputOf } from "./refusal.ts";

const user = (content: unknown) => createMessage({ role: "user", content: content as ContentInput });
const _only = (content: unknown): Content => user(content).content[0] as Content;
const bytes = Uint8Array.of(0, 1, 250, 255);
const png = { type: "image", data: bytes, mediaType: "image/png" } as const;

/** A stored message with this content. */
const stored = (content: unknown) => ({ ...serializeMessage(user("x")), content });

describe("the serialised form", () => {
  test("[M4] a round trip through text gives an equal message, for every block", () => {
    fc.assert(
      fc.property(anyMessageInput, (input) => {
        const message = createMessage(input);
        const json = serializeMessage(message);
        const back = parseMessage(JSON.parse(JSON.stringify(json)));
        expect(messageEquals(back, message)).toBe(true);
        expect(back).toEqual(message);
        expect(jsonEquals(serializeMessage(back), json)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("[M4] bytes are base64 with their encoding, redacted reasoning too, and unset fields are absent", () => {
    const json = serializeMessage(
      user([
        { type: "document", data: bytes, mediaType: "a/b", name: "f" },
        { type: "image", data: bytes, mediaType: "a/b" },
        { type: "reasoning", redacted: bytes },
        { type: "reasoning" },
        { type: "tool_result", toolUseId: "i", content: [{ ...png }, 1], status: "error" },
      ]),
    );
    const data = { data: "AAH6/w==", encoding: "base64" };
    expect(json.content).toEqual([
      { type: "document", ...data, mediaType: "a/b", name: "f" },
      { type: "image", ...data, mediaType: "a/b" },
      { type: "reasoning", ...data },
      { type: "reasoning" },
      {
        type: "tool_result",
        toolUseId: "i",
        content: [{ type: "image", ...data, mediaType: "image/png" }, 1],
        status: "error",
      },
    ]);
  });

  test("[M4] what is serialised is a fresh, mutable copy", () => {
    const message = createMessage({
      role: "user",
      content: [{ type: "tool_use", id: "i", name: "n", input: { a: [1] } }],
      metadata: { m: [1] },
    });
    const json = serializeMessage(message) as {
      metadata: { m: number[] };
      content: { input: { a: number[] } }[];
    };
    json.metadata.m.push(2);
    json.content[0]?.input.a.push(2);
    expect(serializeMessage(message)).toMatchObject({
      metadata: { m: [1] },
      content: [{ input: { a: [1] } }],
    });
  });

  const image = (fields: object) => [
    { type: "image", data: "AAEC", encoding: "base64", mediaType: "a/b", ...fields },
  ];
  const wrong: readonly [what: string, content: unknown, path: string][] = [
    ["content that is text", "hi", "message.content"],
    ["content that is null", null, "message.content"],
    ["content that is one block", { type: "text", text: "a" }, "message.content"],
    ["content that is missing", undefined, "message.content"],
    ["a block that is text", ["a"], "message.content[0]"],
    ["bytes without an encoding", image({ encoding: undefined }), "message.content[0].data"],
    ["bytes in another encoding", image({ encoding: "hex" }), "message.content[0].data"],
    ["bytes that were never encoded", image({ data: bytes, encoding: undefined }), "message.content[0].data"],
    ["base64 with a space", image({ data: "AA EC" }), "message.content[0].data"],
    ["base64 with a line feed", image({ data: "AAEC\n" }), "message.content[0].data"],
    ["base64 without padding", image({ data: "AAE" }), "message.content[0].data"],
    ["base64 with too much padding", image({ data: "A===" }), "message.content[0].data"],
    ["base64 of padding alone", image({ data: "====" }), "message.content[0].data"],
    ["base64 with bits left over", image({ data: "AAF=" }), "message.content[0].data"],
    ["base64 of the alphabet for addresses", image({ data: "-_-_" }), "message.content[0].data"],
    ["base64 of other scripts", image({ data: "ΑΑΑΑ" }), "message.content[0].data"],
    [
      "bad base64 in redacted reasoning",
      [{ type: "reasoning", data: "A", encoding: "base64" }],
      "message.content[0].redacted",
    ],
    [
      "redacted reasoning that is bytes",
      [{ type: "reasoning", redacted: bytes }],
      "message.content[0].redacted",
    ],
    [
      "bad base64 inside a result",
      [{ type: "tool_result", toolUseId: "i", status: "error", content: image({ data: "!" }) }],
      "message.content[0].content[0].data",
    ],
    ["an unknown block type", [{ type: "text", text: "" }, { type: "hologram" }], "message.content[1].type"],
  ];

  test.each(wrong)(
    "[M4] %s is refused in stored form, and the error says which block",
    (_what, content, path) => {
      expect(invalidInputOf(() => parseMessage(stored(content))).path).toBe(path);
    },
  );

  test("[M4] base64 agrees with the platform's, and only one text is accepted for the same bytes", () => {
    fc.assert(
      fc.property(anyBytes, (data) => {
        const encoded = encodeBase64(data);
        expect(encoded).toBe(Buffer.from(data).toString("base64"));
        expect(decodeBase64(encoded)).toEqual(data);
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), (data) => {
        const decoded = decodeBase64(data);
        if (decoded !== undefined) expect(encodeBase64(decoded)).toBe(data);
      }),
      { numRuns: 2_000 },
    );
    expect(decodeBase64("")).toEqual(new Uint8Array(0));
  });
});
