import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Invocation } from "../../src/model/invocation.ts";
import type { JsonValue } from "../../src/model/json.ts";
import { type Message, textOf } from "../../src/model/message.ts";
import { messageEquals } from "../../src/model/message-equality.ts";
import { anyJson, anyMessageInput } from "./arbitraries.ts";
import { invocationErrorOf } from "./refusal.ts";

const start = (fields: object = {}) => new Invocation({ message: "hi", ...fields });
const _text = (value: unknown) => textOf(value as Message);

class Service {
  calls = 0;
}

describe("handing out", () => {
  test("[I12] toObject is a deep, mutable copy, from which the same invocation can be made", () => {
    const service = new Service();
    const invocation = start({
      context: { list: [1], service },
      history: [{ role: "user", content: "a", metadata: { m: [1] } }],
    });
    const object = invocation.toObject() as {
      context: { list: number[]; service: Service };
      history: { metadata: { m: number[] } }[];
      message: { role: string };
    };
    object.context.list.push(2);
    object.history[0]?.metadata.m.push(2);
    object.message.role = "assistant";
    expect(object.context.service).toBe(service);
    expect(invocation.dig("context", "list")).toEqual([1]);
    expect(invocation.history[0]?.metadata).toEqual({ m: [1] });
    expect(invocation.message.role).toBe("user");
    expect(new Invocation(invocation.toObject()).toJSON()).toEqual(invocation.toJSON());
  });

  test("[I12] toObject gives a deadline that was read as a date of its own, and another as it was given", () => {
    const invocation = start({ deadlineAt: "2024-01-01T00:00:00+02:00" });
    expect(invocation.toObject().deadlineAt).toBe("2024-01-01T00:00:00+02:00");
    const read = invocation.deadlineAt;
    expect(invocation.toObject().deadlineAt).toEqual(read);
    expect(invocation.toObject().deadlineAt).not.toBe(read);
    expect(invocation.toJSON().deadlineAt).toBe("2024-01-01T00:00:00+02:00");
  });

  test("[I12] its serialised form is read back as it was, whatever it carries of JSON", () => {
    const fields = fc.dictionary(
      fc
        .string()
        .filter(
          (key) => !/^(message|history|run_?id|(invocation|session|actor)_?id|deadline_?at)$/i.test(key),
        ),
      anyJson,
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(
        fields,
        anyMessageInput,
        fc.array(anyMessageInput, { maxLength: 3 }),
        (open, message, history) => {
          const invocation = new Invocation({ ...open, message, history, settings: null });
          const json = JSON.parse(JSON.stringify(invocation)) as JsonValue;
          const back = Invocation.parse(json);
          expect(back.toJSON()).toEqual(json);
          expect(back.toObject()).toEqual(invocation.toObject());
          expect(messageEquals(back.message, invocation.message)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("[I12] dates become text and bytes base64; what lives in this process alone is left out", () => {
    const json = start({
      runId: "r",
      context: {
        when: new Date(0),
        bytes: Uint8Array.of(1, 2),
        buffer: new ArrayBuffer(1),
        act: () => 1,
        service: new Service(),
        url: new URL("http://a/"),
        list: [() => 1, -0],
        gone: undefined,
        tag: Symbol.for("x"),
      },
      act: () => 1,
    }).toJSON();
    expect(json.context).toEqual({
      when: "1970-01-01T00:00:00.000Z",
      bytes: { data: "AQI=", encoding: "base64" },
      buffer: { data: "AA==", encoding: "base64" },
      url: "http://a/",
      list: [null, 0],
    });
    expect("act" in json).toBe(false);
  });

  test("[I12] what cannot be JSON without changing is refused by its place", () => {
    const loop: unknown[] = [];
    loop.push({ loop });
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    const values: readonly [unknown, string][] = [
      [[Number.NaN], "context.a[0]"],
      [Number.POSITIVE_INFINITY, "context.a"],
      [5n, "context.a"],
      [new Date("x"), "context.a"],
      [loop, "context.a[0].loop"],
      [deep, "deeper than"],
    ];
    for (const [a, names] of values)
      expect(invocationErrorOf(() => start({ context: { a } }).toJSON())).toContain(names);
  });

  test("[I12] parse refuses what the constructor refuses", () => {
    for (const json of [null, undefined, "{}", 5, [], {}, { message: "" }, { message: "hi", history: [1] }]) {
      expect(invocationErrorOf(() => Invocation.parse(json))).toMatch(
        /^Invocation (payload|message|history)/,
      );
    }
  });
});
