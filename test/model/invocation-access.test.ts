import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { Invocation } from "../../src/model/invocation.ts";
import { createMessage, type Message, textOf } from "../../src/model/message.ts";
import { invocationErrorOf } from "./refusal.ts";

const start = (fields: object = {}) => new Invocation({ message: "hi", ...fields });
const text = (value: unknown) => textOf(value as Message);

class Service {
  calls = 0;
}

describe("reading by key", () => {
  test("[I9] fetch throws for a missing field, or gives the fallback", () => {
    const invocation = start({ a: null, b: 0 });
    expect(invocationErrorOf(() => invocation.fetch("missing"))).toBe('Invocation has no field "missing"');
    expect(invocationErrorOf(() => invocation.fetch("actorId"))).toBe('Invocation has no field "actorId"');
    expect(invocation.fetch("missing", 7)).toBe(7);
    expect(invocation.fetch("missing", undefined)).toBeUndefined();
    expect(invocation.fetch("missing", () => "made")).toBe("made");
    expect([invocation.fetch("a", 1), invocation.fetch("b", 1)]).toEqual([null, 0]);
    const never = () => {
      throw new Error("called");
    };
    expect(invocation.fetch("a", never)).toBeNull();
  });

  test("[I9] dig walks objects, arrays, maps and instances, and stops at what is missing", () => {
    const invocation = start({
      context: {
        users: [{ name: "ann" }],
        map: new Map<unknown, unknown>([
          [1, "one"],
          ["k", "v"],
        ]),
        service: new Service(),
      },
    });
    expect(invocation.dig("context", "users", 0, "name")).toBe("ann");
    expect(invocation.dig("context", Symbol.for("users"), "0", "name")).toBe("ann");
    expect([invocation.dig("context", "map", 1), invocation.dig("context", "map", "k")]).toEqual([
      "one",
      "v",
    ]);
    expect(invocation.dig("context", "service", "calls")).toBe(0);
    for (const path of [
      ["none"],
      ["context", "users", 9, "name"],
      ["context", "users", 0, "name", "x"],
      ["context", "constructor"],
      ["context", "__proto__", "x"],
      ["context", "users", "push"],
    ]) {
      expect(invocation.dig(path[0] as string, ...path.slice(1))).toBeUndefined();
    }
    expect(invocation.dig("message", "role")).toBe("user");
  });

  test("[I9] has tells a field that is null from one that is missing", () => {
    const invocation = start({ a: null, b: undefined });
    expect([
      invocation.has("a"),
      invocation.has("b"),
      invocation.has("history"),
      invocation.has("run_id"),
    ]).toEqual([true, false, true, true]);
  });

  test("[I10] a date and null pass, and an invalid date does not", () => {
    const date = new Date(5);
    expect(start({ deadlineAt: date }).deadlineAt).toEqual(date);
    expect(start({ deadlineAt: null }).deadlineAt).toBeNull();
    expect(start().deadlineAt).toBeUndefined();
    expect(invocationErrorOf(() => start({ deadlineAt: new Date("x") }).deadlineAt)).toBe(
      "deadline_at must be a valid time",
    );
  });

  const times: readonly [text: string, iso: string][] = [
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2024-12-31T23:59:59.5Z", "2024-12-31T23:59:59.500Z"],
    ["2024-06-01T12:00:00.123456789+05:30", "2024-06-01T06:30:00.123Z"],
    ["2000-02-29T00:00:00-00:00", "2000-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ];
  test.each(times)("[I10] the deadline %s is read", (given, iso) => {
    const invocation = start({ deadline_at: given });
    expect(invocation.deadlineAt?.toISOString()).toBe(iso);
    expect(invocation.get("deadline_at")).toBe(invocation.deadlineAt);
    expect(invocation.fetch("deadlineAt")).toBe(invocation.deadlineAt);
  });

  const noTimes: readonly unknown[] = [
    "",
    "1",
    "tomorrow",
    "2024-01-01",
    "2024-01-01T00:00:00",
    "2024-01-01 00:00:00Z",
    "2024-01-01T00:00Z",
    "2024-1-1T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2024-04-31T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-00-01T00:00:00Z",
    "2024-01-00T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T23:60:00Z",
    "2024-01-01T23:59:60Z",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00+0200",
    "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00z",
    " 2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00Z\n",
    "+002024-01-01T00:00:00Z",
    "Mon, 01 Jan 2024 00:00:00 GMT",
    0,
    1_700_000_000_000,
    true,
    {},
    [],
  ];
  test.each(noTimes.map((given) => [given]))(
    "[I10] %j is no deadline, which shows on reading and not before",
    (given) => {
      const invocation = start({ deadlineAt: given });
      expect(Object.keys(invocation)).toContain("deadlineAt");
      expect(invocation.toObject().deadlineAt).toEqual(given);
      for (const read of [
        () => invocation.deadlineAt,
        () => invocation.get("deadlineAt"),
        () => invocation.fetch("deadline_at"),
        () => invocation.dig("deadlineAt"),
      ]) {
        expect(invocationErrorOf(read)).toBe("deadline_at must be a valid time");
      }
      invocation.deadlineAt = "2024-01-01T00:00:00Z";
      expect(invocation.deadlineAt?.getTime()).toBe(Date.UTC(2024, 0, 1));
      invocation.set("deadlineAt", given);
      expect(invocationErrorOf(() => invocation.deadlineAt)).toBe("deadline_at must be a valid time");
    },
  );

  test("[I10] every time that a date can be written as is read back to the millisecond", () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date("0000-01-01T00:00:00Z"),
          max: new Date("9999-12-31T23:59:59.999Z"),
          noInvalidDate: true,
        }),
        (date) => {
          expect(start({ deadlineAt: date.toISOString() }).deadlineAt).toEqual(date);
        },
      ),
    );
  });

  test("[I11] the ten fields are properties to read and to write", () => {
    const invocation = start();
    invocation.message = "new";
    invocation.history = [createMessage({ role: "user", content: "old" })];
    invocation.settings = { a: 1 };
    invocation.context = { b: 2 };
    invocation.metadata = { c: 3 };
    invocation.runId = "r";
    invocation.invocationId = "i";
    invocation.sessionId = "s";
    invocation.actorId = "ann";
    invocation.deadlineAt = new Date(5);
    expectTypeOf(invocation.message).toEqualTypeOf<Message>();
    const deadline: Date | null | undefined = invocation.deadlineAt;
    expect(text(invocation.message)).toBe("new");
    expect(invocation.history.map(text)).toEqual(["old"]);
    expect(invocation).toMatchObject({ settings: { a: 1 }, context: { b: 2 }, metadata: { c: 3 } });
    expect(invocation).toMatchObject({ runId: "r", invocationId: "i", sessionId: "s", actorId: "ann" });
    expect(deadline).toEqual(new Date(5));
  });
});
