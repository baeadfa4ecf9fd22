import { expect, test } from "vitest";
import { type Ancestry, ancestryAfter, commonPrefix, segmentsOf } from "../../../server/storage/lineage.ts";

const NONE: Ancestry = { keepGeneration: 0, keepCount: 0 };

test("[P24] a thousand regenerated answers leave a log of two segments, not a chain of a thousand", () => {
  const lineage: Ancestry[] = [NONE];
  const ancestryOf = (generation: number): Ancestry => lineage[generation] ?? NONE;
  for (let generation = 0; generation < 1_000; generation += 1) {
    lineage.push(ancestryAfter({ generation, count: 9 }, ancestryOf));
  }
  expect(segmentsOf({ generation: 1_000, count: 10 }, ancestryOf)).toEqual([
    { owner: 0, from: 0, to: 9 },
    { owner: 1_000, from: 9, to: 10 },
  ]);
});

test("[P31] what two logs have in common ends where the first of them left the other's way", () => {
  const one = [
    { owner: 0, from: 0, to: 5 },
    { owner: 1, from: 5, to: 8 },
  ];
  expect(commonPrefix(one, one)).toBe(8);
  expect(commonPrefix(one, [{ owner: 0, from: 0, to: 3 }])).toBe(3);
  expect(
    commonPrefix(
      [
        { owner: 0, from: 0, to: 3 },
        { owner: 2, from: 3, to: 9 },
      ],
      one,
    ),
  ).toBe(3);
  expect(commonPrefix(one, [{ owner: 3, from: 0, to: 5 }])).toBe(0);
  expect(commonPrefix(one, [])).toBe(0);
});
