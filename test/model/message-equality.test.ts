import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMessage, type MessageInput, parseMessage, serializeMessage } from "../../src/model/message.ts";
import { isPrefix, messageEquals, sameContent } from "../../src/model/message-equality.ts";
import { anyMessageInput } from "./arbitraries.ts";

const make = (fields: object) => createMessage({ role: "user", content: "hi", ...fields } as MessageInput);

describe("comparing messages", () => {
  test("[M7] messages are equal when they serialise to the same value, whatever the order of keys", () => {
    fc.assert(
      fc.property(anyMessageInput, anyMessageInput, (one, other) => {
        const a = createMessage(one);
        const reordered = Object.fromEntries(Object.entries(serializeMessage(a)).reverse());
        expect(messageEquals(a, parseMessage(reordered))).toBe(true);
        const b = createMessage({ ...other, id: a.id, createdAt: a.createdAt });
        const same = JSON.stringify(serializeMessage(a)) === JSON.stringify(serializeMessage(b));
        if (same) expect(messageEquals(a, b)).toBe(true);
        expect(messageEquals(a, b)).toBe(sameContent(a, b));
        expect(messageEquals(a, b)).toBe(messageEquals(b, a));
      }),
      { numRuns: 300 },
    );
  });

  const block = { type: "tool_use", id: "i", name: "n", input: { a: 1, b: [1, 2] } };
  const result = (content: unknown, status = "success") => ({
    type: "tool_result",
    toolUseId: "i",
    content,
    status,
  });
  const file = (data: readonly number[], name = "f") => ({
    type: "document",
    data: Uint8Array.from(data),
    mediaType: "a/b",
    name,
  });
  const pairs: readonly [what: string, a: object, b: object][] = [
    ["ids", { id: "a" }, { id: "b" }],
    ["times", { createdAt: "2024-01-01T00:00:00Z" }, { createdAt: "2024-01-01T00:00:00.0Z" }],
    ["roles", { role: "user" }, { role: "assistant" }],
    ["texts", { content: "a" }, { content: "b" }],
    ["numbers of blocks", { content: ["a"] }, { content: ["a", ""] }],
    ["orders of blocks", { content: ["a", "b"] }, { content: ["b", "a"] }],
    ["metadata", { metadata: { a: 1 } }, { metadata: { a: 2 } }],
    ["absent metadata", { metadata: { a: null } }, { metadata: {} }],
    ["inputs", { content: block }, { content: { ...block, input: { a: 1, b: [2, 1] } } }],
    ["names of tools", { content: block }, { content: { ...block, name: "m" } }],
    ["results", { content: result([1]) }, { content: result([2]) }],
    ["kinds of results", { content: result({ 0: 1 }) }, { content: result([1]) }],
    ["statuses", { content: result(1) }, { content: result(1, "error") }],
    ["blocks in results", { content: result(["a"]) }, { content: result([{ type: "text", text: "a" }]) }],
    ["bytes", { content: file([1, 2]) }, { content: file([1, 3]) }],
    ["lengths of bytes", { content: file([1, 2]) }, { content: file([1]) }],
    ["names of files", { content: file([1]) }, { content: file([1], "g") }],
    ["kinds of blocks", { content: file([1]) }, { content: { ...file([1]), type: "image" } }],
    ["signatures", { content: { type: "reasoning", signature: "a" } }, { content: { type: "reasoning" } }],
    [
      "redactions",
      { content: { type: "reasoning", redacted: Uint8Array.of(1) } },
      { content: { type: "reasoning" } },
    ],
    ["details", { content: { type: "reasoning", details: [] } }, { content: { type: "reasoning" } }],
  ];
  test.each(pairs)("[M7] messages with different %s are not equal", (_what, a, b) => {
    const base = { id: "same", createdAt: "2024-01-01T00:00:00.000Z" };
    expect(messageEquals(make({ ...base, ...a }), make({ ...base, ...b }))).toBe(false);
    expect(messageEquals(make({ ...base, ...a }), make({ ...base, ...a }))).toBe(true);
  });

  test("[M7] a log begins with its own start, and with no other", () => {
    const log = ["a", "b", "c"].map((content) => make({ content }));
    const copies = log.map((message) => parseMessage(serializeMessage(message)));
    expect(isPrefix([], log) && isPrefix(log.slice(0, 2), log) && isPrefix(copies, log)).toBe(true);
    expect(isPrefix(log, log.slice(0, 2))).toBe(false);
    expect(isPrefix(log.slice(1), log)).toBe(false);
  });
});
