import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/model/errors.ts";
import {
  createMessage,
  type Message,
  type MessageInput,
  serializeMessage,
  textOf,
} from "../../src/model/message.ts";
import { persistable } from "../../src/model/persistable.ts";
import { anyMessageInput } from "./arbitraries.ts";

const GONE = "[artifact unavailable after run]";
const make = (fields: object) => createMessage({ role: "user", content: "hi", ...fields } as MessageInput);
const thought = { type: "reasoning", text: "a secret" } as const;
const result = (content: unknown) => ({ type: "tool_result", toolUseId: "i", content, status: "success" });
const one = (fields: object): Message => persistable([make(fields)])[0] as Message;

describe("what may be stored", () => {
  test("[S9] system messages stay out; the other roles, developer included, stay", () => {
    const messages = (["system", "developer", "user", "assistant", "tool"] as const).map((role) =>
      make({ role }),
    );
    expect(persistable(messages).map((message) => message.role)).toEqual([
      "developer",
      "user",
      "assistant",
      "tool",
    ]);
  });

  test("[S9] whatever is truthy under metadata.transient keeps a message out", () => {
    for (const transient of [true, 1, "yes", {}, []])
      expect(persistable([make({ metadata: { transient } })])).toEqual([]);
    for (const transient of [false, 0, "", null])
      expect(persistable([make({ metadata: { transient } })]).length).toBe(1);
  });

  test("[S9] reasoning is removed, also inside tool results; what that empties goes, what was empty stays", () => {
    const empty = make({ content: [] });
    const kept = persistable([
      make({ content: [thought] }),
      empty,
      make({ content: [thought, "said"] }),
      make({ role: "tool", content: [result([thought, "found"]), result([thought])] }),
    ]);
    expect(kept[0]).toBe(empty);
    expect(kept.map((message) => message.content)).toEqual([
      [],
      [{ type: "text", text: "said" }],
      [result(["found"]), result([])],
    ]);
  });

  test("[S9, H7] no secret of any message is in what is stored, and doing it twice changes nothing", () => {
    const secret = "s3cr3t-thought";
    const hide = fc.constantFrom<readonly [string, object]>(
      ["system", { role: "system", content: secret }],
      ["transient", { content: secret, metadata: { transient: true } }],
      ["thought", { content: ["open", { type: "reasoning", text: secret, signature: secret }] }],
      ["details", { content: ["open", { type: "reasoning", details: [{ secret }] }] }],
      ["nested", { content: [result([result([{ type: "reasoning", text: secret }]), "open"])] }],
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            hide.map(([, fields]) => make(fields)),
            anyMessageInput,
          ),
          { maxLength: 6 },
        ),
        (messages) => {
          const kept = persistable(messages);
          expect(JSON.stringify(kept.map(serializeMessage))).not.toContain(secret);
          const again = persistable(kept);
          expect(again.length).toBe(kept.length);
          for (const [index, message] of again.entries()) expect(message).toBe(kept[index]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("[S9] messages with nothing to remove are handed on as they are, from any iterable", () => {
    const messages = [make({}), make({ role: "assistant", metadata: { a: 1 } })];
    const kept = persistable(new Set(messages));
    expect([...kept]).toEqual(messages);
    expect(kept.every((message, index) => message === messages[index])).toBe(true);
    expect(Object.isFrozen(kept)).toBe(true);
  });

  test("[S9, H10] a bad message is refused by its place, and so is a bad block in it", () => {
    const wrong: readonly [unknown, string][] = [
      [[make({}), null], "messages[1]"],
      [[{ role: "robot" }], "messages[0].role"],
      [[make({}), { role: "system", content: [{ type: "text", text: 1 }] }], "messages[1].content[0].text"],
      [["hi"], "messages[0]"],
    ];
    for (const [messages, path] of wrong) {
      expect(() => persistable(messages as MessageInput[])).toThrow(InvalidInputError);
      expect(() => persistable(messages as MessageInput[])).toThrow(
        new RegExp(`^${path.replace(/[[\].]/g, "\\$&")} `),
      );
    }
  });

  test("[S16] a call and its result that are given together are stored together, in their order", () => {
    const call = make({
      role: "assistant",
      content: [thought, { type: "tool_use", id: "i", name: "n", input: {} }],
    });
    const kept = persistable([call, make({ role: "tool", content: [result("done")] })]);
    expect(kept.map((message) => message.content[0]?.type)).toEqual(["tool_use", "tool_result"]);
  });
});

describe("messages without an id", () => {
  test("[M8] one that says what the stored one at its place says becomes the stored one", () => {
    const stored = [make({ content: "a" }), make({ role: "assistant", content: "b", metadata: { m: 1 } })];
    const given: MessageInput[] = [
      { role: "system", content: "be kind" },
      { role: "user", content: "a" },
      { role: "assistant", content: [thought, "b"], metadata: { m: 1 } },
      { role: "user", content: "c" },
    ];
    const kept = persistable(given, stored);
    expect(kept[0]).toBe(stored[0]);
    expect(kept[1]).toBe(stored[1]);
    expect(stored.map((message) => message.id)).not.toContain(kept[2]?.id);
  });

  test("[M8] one with an id of its own keeps it, and so does a message that was made before", () => {
    const stored = [make({ content: "a" }), make({ content: "a" })];
    const mine = make({ content: "a" });
    const kept = persistable([{ role: "user", content: "a", id: "mine" }, mine], stored);
    expect(kept.map((message) => message.id)).toEqual(["mine", mine.id]);
  });

  test("[M8] other content, another role, other metadata or another place take no stored id", () => {
    const stored = [make({ content: "a" })];
    for (const given of [
      { role: "user", content: "b" },
      { role: "assistant", content: "a" },
      { role: "user", content: "a", metadata: { x: 1 } },
    ] as const) {
      expect(persistable([given], stored)[0]?.id).not.toBe(stored[0]?.id);
    }
    const shifted = persistable(
      [
        { role: "user", content: "new" },
        { role: "user", content: "a" },
      ],
      stored,
    );
    expect(shifted.map((message) => message.id)).not.toContain(stored[0]?.id);
  });
});

describe("references to artifacts of a run", () => {
  test("[S10] they are replaced in text, the list goes, other metadata stays", () => {
    const kept = one({
      content: ["see artifact:1, and artifact:1", "or artifact:2"],
      metadata: {
        holdfastArtifacts: [{ reference: "artifact:1", size: 3 }, { reference: "artifact:2" }],
        other: { a: 1 },
      },
    });
    expect(textOf(kept)).toBe(`see ${GONE}, and ${GONE}or ${GONE}`);
    expect(kept.metadata).toEqual({ other: { a: 1 } });
  });

  test("[S10] they are replaced inside tool results, in blocks and in JSON; inputs and keys stay", () => {
    const kept = one({
      role: "tool",
      content: [
        result(["a ref", { at: ["ref", 1], ref: "ref" }, { type: "text", text: "(ref)" }, result("ref")]),
        { type: "tool_use", id: "i", name: "n", input: { path: "ref" } },
      ],
      metadata: { holdfastArtifacts: [{ reference: "ref" }] },
    });
    expect(kept.content).toEqual([
      result([`a ${GONE}`, { at: [GONE, 1], ref: GONE }, { type: "text", text: `(${GONE})` }, result(GONE)]),
      { type: "tool_use", id: "i", name: "n", input: { path: "ref" } },
    ]);
  });

  test("[S10] the longest reference goes first, so that no piece of one is left", () => {
    for (const references of [
      ["run/1", "run/12"],
      ["run/12", "run/1"],
    ]) {
      const kept = one({
        content: "run/12 run/1",
        metadata: { holdfastArtifacts: references.map((reference) => ({ reference })) },
      });
      expect(textOf(kept)).toBe(`${GONE} ${GONE}`);
    }
  });

  test("[S10] a reference that is a word of the replacement does not break it", () => {
    const kept = one({
      content: "the run made artifact",
      metadata: { holdfastArtifacts: [{ reference: "artifact" }, { reference: "run" }] },
    });
    expect(textOf(kept)).toBe(`the ${GONE} made ${GONE}`);
  });

  test("[S10] references are plain text, not patterns", () => {
    const kept = one({
      content: "a.c abc $& (",
      metadata: { holdfastArtifacts: [{ reference: "a.c" }, { reference: "(" }, { reference: "$&" }] },
    });
    expect(textOf(kept)).toBe(`${GONE} abc ${GONE} ${GONE}`);
  });

  test("[S10] a malformed list is removed, and what in it is no reference is passed over", () => {
    for (const holdfastArtifacts of [
      null,
      "x",
      5,
      {},
      [],
      [null, "hi", {}, { reference: "" }, { reference: 3 }, ["hi"]],
    ]) {
      const kept = one({ content: "hi", metadata: { holdfastArtifacts } });
      expect(textOf(kept)).toBe("hi");
      expect(kept.metadata).toEqual({});
    }
  });

  test("[S10] whatever the references and the text, none is left in it", () => {
    const piece = fc.string({ unit: fc.constantFrom("x", "y", "/"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        fc.array(piece, { maxLength: 8 }),
        (references, words) => {
          const kept = one({
            content: words.join(""),
            metadata: { holdfastArtifacts: references.map((reference) => ({ reference })), keep: 1 },
          });
          const rest = textOf(kept).split(GONE);
          for (const reference of references)
            expect(rest.some((text) => text.includes(reference))).toBe(false);
          expect(persistable([kept])[0]).toBe(kept);
        },
      ),
    );
  });

  test("[S10] the identity of the message stays, and the message that was given is as it was", () => {
    const message = make({ content: "ref", metadata: { holdfastArtifacts: [{ reference: "ref" }] } });
    const kept = persistable([message])[0];
    expect(kept).toMatchObject({ id: message.id, createdAt: message.createdAt, role: message.role });
    expect(textOf(message)).toBe("ref");
    expect(Object.keys(message.metadata)).toEqual(["holdfastArtifacts"]);
  });
});
