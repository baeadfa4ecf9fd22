import { describe, expect, test } from "vitest";
import { Invocation } from "../../src/model/invocation.ts";
import { createMessage, isMessage, type Message, serializeMessage, textOf } from "../../src/model/message.ts";
import { messageEquals } from "../../src/model/message-equality.ts";
import { invocationErrorOf } from "./refusal.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const start = (fields: object = {}) => new Invocation({ message: "hi", ...fields });
const text = (value: unknown) => textOf(value as Message);

describe("defaults and known fields", () => {
  test("[I5] absent fields get fresh defaults for each invocation", () => {
    const one = start();
    const other = start({ settings: undefined });
    expect(one).toMatchObject({ history: [], settings: {}, context: {}, metadata: {} });
    for (const name of ["settings", "context", "metadata"] as const) expect(one[name]).not.toBe(other[name]);
    (one.settings as { a?: number }).a = 1;
    expect(start().settings).toEqual({});
  });

  test("[I5] an explicit null stays null, but for history", () => {
    const invocation = start({ settings: null, context: null, metadata: null, history: null });
    expect(invocation).toMatchObject({ settings: null, context: null, metadata: null, history: [] });
    expect(start({ settings: { a: 1 } }).settings).toEqual({ a: 1 });
  });

  test("[I6] a blank message is refused, also when it is set later", () => {
    const invocation = start();
    for (const message of [null, undefined, "", [], {}]) {
      expect(invocationErrorOf(() => new Invocation({ message }))).toBe("Invocation message is required");
      expect(invocationErrorOf(() => invocation.set("message", message))).toBe(
        "Invocation message is required",
      );
    }
    expect(text(invocation.message)).toBe("hi");
  });

  test("[I6] white space is not blank; text, arrays and blocks in them become a user message", () => {
    expect(text(start({ message: "  " }).message)).toBe("  ");
    const { message } = start({ message: ["a", { type: "text", text: "b" }] });
    expect([message.role, text(message)]).toEqual(["user", "ab"]);
  });

  test("[I6] a message is kept, and an object is read as one", () => {
    const message = createMessage({ role: "assistant", content: "mine" });
    expect(start({ message }).message).toBe(message);
    expect(start({ message: { role: "developer", content: "x", id: "m1" } }).message).toMatchObject({
      id: "m1",
      role: "developer",
    });
    expect(messageEquals(start({ message: serializeMessage(message) }).message, message)).toBe(true);
    expect(start({ message: { role: "user", content: [] } }).message.content).toEqual([]);
  });

  const wrong: readonly [what: string, message: unknown][] = [
    ["0", 0],
    ["false", false],
    ["true", true],
    ["a number", 12],
    ["NaN", Number.NaN],
    ["a function", () => "hi"],
    ["a symbol", Symbol.for("hi")],
    ["an object without a role", { content: "hi" }],
    ["an object of an unknown role", { role: "robot", content: "hi" }],
    ["a message with a bad block", { role: "user", content: [{ type: "image" }] }],
    ["a message with a bad id", { role: "user", content: "hi", id: "" }],
    ["an array with a number", ["a", 1]],
    ["a date", new Date(0)],
  ];
  test.each(wrong)("[I6] %s is no message", (_what, message) => {
    expect(invocationErrorOf(() => new Invocation({ message }))).toMatch(/^Invocation message/);
    const invocation = start();
    expect(invocationErrorOf(() => invocation.set("message", message))).toMatch(/^Invocation message/);
    expect(invocationErrorOf(() => Reflect.set(invocation, "message", message))).toMatch(
      /^Invocation message/,
    );
    expect(text(invocation.message)).toBe("hi");
  });

  test("[I7] history is a frozen list of messages", () => {
    const kept = createMessage({ role: "assistant", content: "b" });
    const given = [{ role: "user", content: "a" }, kept];
    const { history } = start({ history: given });
    expect(history.map(text)).toEqual(["a", "b"]);
    expect(history[1]).toBe(kept);
    expect(history.every(isMessage) && Object.isFrozen(history)).toBe(true);
    expect(Object.isFrozen(given)).toBe(false);
    const invocation = start();
    invocation.history = [{ role: "user", content: "later" }];
    expect(invocation.history.map(text)).toEqual(["later"]);
    invocation.history = null;
    expect(invocation.history).toEqual([]);
  });

  const bad: readonly [what: string, history: unknown, names: string][] = [
    ["text", "hi", "history must be an array"],
    ["an object", { role: "user", content: "a" }, "history must be an array"],
    ["a number", 0, "history must be an array"],
    ["null in it", [null], "history[0]"],
    ["text in it, whose speaker nobody knows", ["hi"], "history[0]"],
    ["a hole in it", new Array(1), "history[0]"],
    ["an unknown role in it", [{ role: "user" }, { role: "robot" }], "history[1].role"],
    ["a bad block in it", [{ role: "user", content: [{ type: "text" }] }], "history[0].content[0].text"],
  ];
  test.each(bad)(
    "[I7] a history with %s is an InvocationError that names the place",
    (_what, history, names) => {
      expect(invocationErrorOf(() => start({ history }))).toContain(names);
      expect(invocationErrorOf(() => start().set("history", history))).toContain(names);
    },
  );

  test("[I8] a blank run id is generated, and the other ids default to it", () => {
    for (const runId of [undefined, null, "", [], {}]) {
      const invocation = start({ runId });
      expect(invocation.runId).toMatch(uuid);
      expect([invocation.invocationId, invocation.sessionId]).toEqual([invocation.runId, invocation.runId]);
    }
    expect(start().runId).not.toBe(start().runId);
    expect(start({ runId: "r", sessionId: "s" })).toMatchObject({
      runId: "r",
      invocationId: "r",
      sessionId: "s",
    });
    expect(start({ run_id: "r", invocation_id: "", session_id: null })).toMatchObject({
      invocationId: "r",
      sessionId: "r",
    });
  });

  test("[I8] the actor is never inferred", () => {
    const invocation = start({ metadata: { actorId: "x" }, context: { actor_id: "x" } });
    expect(invocation.actorId).toBeUndefined();
    expect(invocation.has("actorId")).toBe(false);
    expect(start({ actorId: null }).actorId).toBeNull();
  });
});
