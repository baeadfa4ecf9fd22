import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cloneJson, type JsonValue } from "../../src/model/json.ts";
import { diffArrays, type Splice } from "../../src/store/array-diff.ts";
import { anyJson } from "./state-json.ts";

function apply(array: readonly JsonValue[], splices: readonly Splice[]): JsonValue[] {
  const result = [...array];
  for (const { index, removed, inserted } of splices) result.splice(index, removed, ...inserted);
  return result;
}
const edits = (splices: readonly Splice[]): number =>
  splices.reduce((sum, { removed, inserted }) => sum + removed + inserted.length, 0);

/** The fewest removals and insertions there can be, by the plain quadratic table. */
function fewest(a: readonly unknown[], b: readonly unknown[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [x, left] of a.entries()) {
    const next = [x + 1];
    for (const [y, right] of b.entries()) {
      next.push(left === right ? (row[y] ?? 0) : 1 + Math.min(row[y + 1] ?? 0, next[y] ?? 0));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

describe("Differences of arrays", () => {
  test("[P62] the splices turn the one array into the other, whatever the elements are", () => {
    fc.assert(
      fc.property(fc.array(anyJson, { maxLength: 8 }), fc.array(anyJson, { maxLength: 8 }), (a, b) => {
        expect(apply(a, diffArrays(a, b))).toEqual(b);
      }),
    );
  });

  test("[P62] only the elements that differ are removed and inserted: never more than needed", () => {
    const few = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 40 });
    fc.assert(
      fc.property(few, few, (a, b) => {
        const splices = diffArrays(a, b);
        expect(apply(a, splices)).toEqual(b);
        expect(edits(splices)).toBe(fewest(a, b));
      }),
      { numRuns: 500 },
    );
  });

  test("[P62] equal elements in other objects are no difference", () => {
    const a: JsonValue[] = [{ x: 1, y: [2] }, "s", { ["__proto__"]: 1 }];
    expect(diffArrays(a, cloneJson(a) as JsonValue[])).toEqual([]);
    expect(diffArrays(a, [{ y: [2], x: 1 }, "t", { ["__proto__"]: 1 }])).toEqual([
      { index: 1, removed: 1, inserted: ["t"] },
    ]);
  });

  test("[H11] a few changes far apart in a long array stay a few splices", () => {
    const a = Array.from({ length: 20_000 }, (_, at) => at);
    const b = [...a];
    b.splice(19_990, 1);
    b.splice(10_000, 0, -1, -2);
    b.splice(5, 2, -3);
    expect(diffArrays(a, b)).toEqual([
      { index: 19_990, removed: 1, inserted: [] },
      { index: 10_000, removed: 0, inserted: [-1, -2] },
      { index: 5, removed: 2, inserted: [-3] },
    ]);
  });

  test("[H9] arrays with nothing in common cost a bounded search and are replaced between their common ends", () => {
    const a = Array.from({ length: 30_000 }, (_, at) => at);
    const b = [0, ...Array.from({ length: 30_000 }, (_, at) => -1 - at), 29_999];
    const splices = diffArrays(a, b);
    expect(splices).toHaveLength(1);
    expect(splices[0]).toMatchObject({ index: 1, removed: 29_998 });
    expect(apply(a, splices)).toEqual(b);
  });
});
