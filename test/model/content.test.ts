import { describe, expect, test } from "vitest";
import type { Content, ContentInput } from "../../src/model/content.ts";
import { createMessage, parseMessage, serializeMessage } from "../../src/model/message.ts";
import { messageEquals } from "../../src/model/message-equality.ts";
import { invalidInputOf } from "./refusal.ts";

const user = (content: unknown) => createMessage({ role: "user", content: content as ContentInput });
const only = (content: unknown): Content => user(content).content[0] as Content;
const bytes = Uint8Array.of(0, 1, 250, 255);
const png = { type: "image", data: bytes, mediaType: "image/png" } as const;

/** A stored message with this content. */
const _stored = (content: unknown) => ({ ...serializeMessage(user("x")), content });

describe("what may be given as content", () => {
  test("[M2] text is one text block, also when it is empty", () => {
    expect(user("hi").content).toEqual([{ type: "text", text: "hi" }]);
    expect(user("").content).toEqual([{ type: "text", text: "" }]);
  });

  test("[M2] one block, and an array of texts and blocks, become blocks", () => {
    expect(user({ type: "text", text: "a" }).content).toEqual([{ type: "text", text: "a" }]);
    expect(user(["a", { type: "text", text: "b" }, "c"]).content.map((block) => block.type)).toEqual([
      "text",
      "text",
      "text",
    ]);
    expect(user([]).content).toEqual([]);
  });

  test("[M2] null and undefined are no content", () => {
    expect(user(null).content).toEqual([]);
    expect(user(undefined).content).toEqual([]);
    expect(createMessage({ role: "user" }).content).toEqual([]);
  });

  const wrong: readonly [what: string, content: unknown, path: string][] = [
    ["a number", 5, "message.content"],
    ["false", false, "message.content"],
    ["a function", () => "x", "message.content"],
    ["null in an array", ["a", null], "message.content[1]"],
    ["an array in an array", [["a"]], "message.content[0]"],
    ["a hole in an array", new Array(1), "message.content[0]"],
    ["an object without a type", {}, "message.content.type"],
    ["an unknown type", [{ type: "video" }], "message.content[0].type"],
    ["a type from a prototype's keys", [{ type: "constructor" }], "message.content[0].type"],
    ["a text block without text", [{ type: "text" }], "message.content[0].text"],
    ["a text block of a number", [{ type: "text", text: 4 }], "message.content[0].text"],
    [
      "a field that a block does not have",
      [{ type: "text", text: "a", cache: {} }],
      "message.content[0].cache",
    ],
    ["an image without bytes", [{ type: "image", mediaType: "image/png" }], "message.content[0].data"],
    ["an image of text", [{ ...png, data: "AAEC" }], "message.content[0].data"],
    ["an image of an ArrayBuffer", [{ ...png, data: bytes.buffer }], "message.content[0].data"],
    ["an image of other numbers", [{ ...png, data: new Uint16Array(2) }], "message.content[0].data"],
    ["an image without a media type", [{ type: "image", data: bytes }], "message.content[0].mediaType"],
    ["an image whose name is no text", [{ ...png, name: 1 }], "message.content[0].name"],
    ["an image whose name is null", [{ ...png, name: null }], "message.content[0].name"],
    ["an image in an unknown encoding", [{ ...png, data: "00", encoding: "hex" }], "message.content[0].data"],
    ["a document without a name", [{ ...png, type: "document" }], "message.content[0].name"],
    ["a call without an id", [{ type: "tool_use", name: "n", input: {} }], "message.content[0].id"],
    [
      "a call with an empty id",
      [{ type: "tool_use", id: "", name: "n", input: {} }],
      "message.content[0].id",
    ],
    [
      "a call with an empty name",
      [{ type: "tool_use", id: "i", name: "", input: {} }],
      "message.content[0].name",
    ],
    ["a call without input", [{ type: "tool_use", id: "i", name: "n" }], "message.content[0].input"],
    [
      "a call whose input is a list",
      [{ type: "tool_use", id: "i", name: "n", input: [] }],
      "message.content[0].input",
    ],
    [
      "a call whose input holds a date",
      [{ type: "tool_use", id: "i", name: "n", input: { when: [new Date(0)] } }],
      "message.content[0].input.when[0]",
    ],
    [
      "a result for no call",
      [{ type: "tool_result", content: 1, status: "success" }],
      "message.content[0].toolUseId",
    ],
    [
      "a result without content",
      [{ type: "tool_result", toolUseId: "i", status: "success" }],
      "message.content[0].content",
    ],
    [
      "a result without a status",
      [{ type: "tool_result", toolUseId: "i", content: 1 }],
      "message.content[0].status",
    ],
    [
      "a result of another status",
      [{ type: "tool_result", toolUseId: "i", content: 1, status: "maybe" }],
      "message.content[0].status",
    ],
    [
      "a bad block inside a result",
      [{ type: "tool_result", toolUseId: "i", content: [1, { type: "text" }], status: "success" }],
      "message.content[0].content[1].text",
    ],
    [
      "undefined inside a result with blocks",
      [
        {
          type: "tool_result",
          toolUseId: "i",
          content: ["a", undefined, { type: "text", text: "" }],
          status: "success",
        },
      ],
      "message.content[0].content[1]",
    ],
    [
      "redacted reasoning with text",
      [{ type: "reasoning", text: "t", redacted: bytes }],
      "message.content[0].redacted",
    ],
    [
      "redacted reasoning with a signature",
      [{ type: "reasoning", signature: "s", redacted: bytes }],
      "message.content[0].redacted",
    ],
    ["redacted reasoning of text", [{ type: "reasoning", redacted: "AAEC" }], "message.content[0].redacted"],
    ["reasoning whose text is null", [{ type: "reasoning", text: null }], "message.content[0].text"],
    [
      "reasoning whose details are no list",
      [{ type: "reasoning", details: {} }],
      "message.content[0].details",
    ],
    [
      "reasoning with a detail of text",
      [{ type: "reasoning", details: [{}, "x"] }],
      "message.content[0].details[1]",
    ],
  ];

  test.each(wrong)("[M3] %s is refused, and the error says which block", (_what, content, path) => {
    const error = invalidInputOf(() => user(content));
    expect(error.path).toBe(path);
    expect(error.message.startsWith(path)).toBe(true);
  });

  test("[M3] blocks keep every field they have, and have no field that was not given", () => {
    const blocks = [
      { type: "text", text: "t" },
      { type: "image", data: bytes, mediaType: "image/png", name: "n" },
      { type: "image", data: bytes, mediaType: "image/png" },
      { type: "document", data: bytes, mediaType: "a/b", name: "" },
      { type: "tool_use", id: "i", name: "n", input: { a: [1] } },
      { type: "tool_result", toolUseId: "i", content: null, status: "error" },
      { type: "reasoning", text: "t", signature: "s", details: [{ a: 1 }] },
      { type: "reasoning", redacted: bytes, details: [] },
      { type: "reasoning" },
    ];
    const made = user(blocks).content;
    expect(made).toEqual(blocks);
    expect(made.map((block) => Object.keys(block).sort())).toEqual(
      blocks.map((block) => Object.keys(block).sort()),
    );
    expect(
      Object.keys(only({ type: "image", data: bytes, mediaType: "a/b", name: undefined })),
    ).not.toContain("name");
  });

  test("[M3] in a tool's result, items of the six types are blocks and everything else stays JSON", () => {
    const items = [
      "text",
      { type: "text", text: "a block" },
      { type: "video", text: 5 },
      { kind: "none" },
      [{ type: "text" }],
      { ...png },
      null,
    ];
    const block = only({ type: "tool_result", toolUseId: "i", content: items, status: "success" });
    expect(block.type === "tool_result" && block.content).toEqual(items);
    const single = only({
      type: "tool_result",
      toolUseId: "i",
      content: { type: "text" },
      status: "success",
    });
    expect(single.type === "tool_result" && single.content).toEqual({ type: "text" });
  });

  test("[M3, D2] results inside results are bounded by the same limit as JSON, cycles too", () => {
    const wrap = (content: unknown) => [{ type: "tool_result", toolUseId: "i", content, status: "success" }];
    let deep: unknown = "end";
    for (let level = 0; level < 10_000; level += 1) deep = wrap(deep);
    expect(invalidInputOf(() => user(deep)).message).toContain("deeper than");
    const circle = wrap([]);
    (circle[0] as { content: unknown }).content = circle;
    expect(invalidInputOf(() => user(circle)).message).toContain("deeper than");
    let fine: unknown = "end";
    for (let level = 0; level < 240; level += 1) fine = wrap(fine);
    const message = user(fine);
    expect(messageEquals(parseMessage(JSON.parse(JSON.stringify(serializeMessage(message)))), message)).toBe(
      true,
    );
  });

  test("[D4] bytes are copied in, and each reading gives a copy of its own", () => {
    const data = Uint8Array.of(1, 2, 3);
    const message = user([
      { ...png, data },
      { type: "reasoning", redacted: data },
    ]);
    data[0] = 99;
    for (const read of [
      () => (message.content[0] as { data: Uint8Array }).data,
      () => (message.content[1] as { redacted: Uint8Array }).redacted,
    ]) {
      expect(read()).toEqual(Uint8Array.of(1, 2, 3));
      read()[1] = 99;
      expect(read()).toEqual(Uint8Array.of(1, 2, 3));
    }
  });

  test("[D4] a view that shares memory with others is copied, and only its part of it", () => {
    const pool = Buffer.from("0123456789");
    const message = user({ ...png, data: pool.subarray(2, 5) });
    pool.fill(0);
    const data = (message.content[0] as { data: Uint8Array }).data;
    expect(data).toEqual(new TextEncoder().encode("234"));
    expect(Object.getPrototypeOf(data)).toBe(Uint8Array.prototype);
    expect(data.buffer.byteLength).toBe(3);
  });

  test("[D4] everything in a message is frozen, and nothing of the caller's is", () => {
    const given = [
      { type: "tool_use", id: "i", name: "n", input: { deep: [{ a: 1 }] } },
      {
        type: "tool_result",
        toolUseId: "i",
        content: [{ a: [1] }, { type: "text", text: "x" }],
        status: "success",
      },
      { type: "reasoning", details: [{ a: [1] }] },
    ];
    const message = user(given);
    const walk = (value: unknown, see: (object: object) => void): void => {
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
      see(value);
      for (const inner of Object.values(value)) walk(inner, see);
    };
    walk(message, (object) => expect(Object.isFrozen(object)).toBe(true));
    walk(given, (object) => expect(Object.isFrozen(object)).toBe(false));
  });
});
