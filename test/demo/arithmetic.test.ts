import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculate, findSum } from "../../demo/agent/arithmetic.ts";

describe("calculate", () => {
  test.each([
    ["17 × 23 + 4", 395],
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["10 / 4", 2.5],
    ["0.1 + 0.2", 0.3],
    ["1,000,000 / 8", 125_000],
    ["1,5 + 1", 2.5],
    ["7 % 4 − 1", 2],
    ["-(3 - -4)", -7],
  ])("%s is %d", (expression, value) => {
    expect(calculate(expression)).toBe(value);
  });

  test.each([
    ["1 / 0", /division by zero/],
    ["1 +", /too early/],
    ["(1 + 2", /not closed/],
    ["1 2", /unexpected/],
    ["process.exit()", /no part of a sum/],
    ["9 ^ 9 ^ 9 ^ 9", /too large/],
    [`${"(".repeat(5000)}1${")".repeat(5000)}`, /too deeply/],
    [`${"-".repeat(5000)}1`, /too deeply/],
  ])("%s is refused in words", (expression, words) => {
    expect(() => calculate(expression)).toThrow(words);
  });

  test("agrees with the language itself on whole numbers", () => {
    const whole = fc.integer({ min: 0, max: 999 });
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        expect(calculate(`${a} + ${b} * (${c} - ${a})`)).toBe(a + b * (c - a));
      }),
    );
  });
});

describe("findSum", () => {
  test.each([
    ["What is 17 × 23 + 4?", "17 × 23 + 4"],
    ["and (3.5 + 1) ^ 2, please", "(3.5 + 1) ^ 2"],
    ["1+1", "1+1"],
  ])("in %j it is %j", (text, sum) => {
    expect(findSum(text)).toBe(sum);
  });

  test.each(["hello", "on 2024-05-20 I flew", "I have 3 cats", "call 555", "a - b", "((1+2"])(
    "%j holds none",
    (text) => {
      expect(findSum(text)).toBeUndefined();
    },
  );

  test("takes time in proportion to the text", () => {
    expect(findSum(`${"1+".repeat(50_000)}x`)).toBeDefined();
    expect(findSum(`${"(".repeat(50_000)}x`)).toBeUndefined();
  });
});
