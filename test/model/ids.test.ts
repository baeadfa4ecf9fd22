import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { InvalidInputError } from "../../src/model/errors.ts";
import { checkId, isValidId, newId } from "../../src/model/ids.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("new ids", () => {
  test("[M8] ids are UUIDv7, all different, each greater than the one before", () => {
    const ids = Array.from({ length: 20_000 }, () => newId());
    expect(ids.every((id) => UUID_V7.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  test("[M8, C20] ids keep growing when the clock stands still, and when it jumps back by a day", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    try {
      const ids = Array.from({ length: 10_000 }, () => newId());
      vi.setSystemTime(Date.now() - 86_400_000);
      ids.push(...Array.from({ length: 10_000 }, () => newId()));
      expect(ids.every((id) => UUID_V7.test(id))).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
      expect([...ids].sort()).toEqual(ids);
    } finally {
      vi.useRealTimers();
    }
  });

  test("[M8] an id from a source holds its time and its randomness, and nothing else", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (nowMs, bytes) => {
          const source = { nowMs, bytes: () => bytes };
          const id = newId(source);
          expect(id).toMatch(UUID_V7);
          expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(nowMs);
          expect(newId(source)).toBe(id);
        },
      ),
    );
  });

  test("[M8] the example of RFC 9562 comes out", () => {
    const bytes = Uint8Array.of(0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f);
    expect(newId({ nowMs: 0x017f22e279b0, bytes: () => bytes })).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });
});

const bad: readonly [what: string, id: unknown][] = [
  ["nothing", undefined],
  ["null", null],
  ["a number", 7],
  ["an object", { id: "a" }],
  ["an empty id", ""],
  ["spaces", "   "],
  ["other white space", "\t\n\u00a0\u2003\ufeff"],
  ["129 characters", "x".repeat(129)],
  ["half a surrogate pair", "a\ud83d"],
  ["the other half", "\ude00a"],
  ["NUL", "a\0b"],
];

describe("ids that are given", () => {
  test.each(bad)("[M9] %s is refused as an id, by name", (_what, id) => {
    expect(isValidId(id)).toBe(false);
    expect(() => checkId(id, "messages[3].id")).toThrow(InvalidInputError);
    expect(() => checkId(id, "messages[3].id")).toThrow(/^messages\[3\]\.id must/);
  });

  test("[M9] every other text of up to 128 characters is an id, and is kept as it is", () => {
    const fine = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 128 })
      .filter((id) => id.trim() !== "" && id.length <= 128 && !id.includes("\0"));
    fc.assert(
      fc.property(fine, (id) => {
        expect(checkId(id, "id")).toBe(id);
      }),
    );
    for (const id of ["x".repeat(128), " a ", "\ud83d\ude00", "../../etc", "__proto__", newId()]) {
      expect(checkId(id, "id")).toBe(id);
    }
  });
});
