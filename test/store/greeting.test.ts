import fc from "fast-check";
import { expect, test } from "vitest";
import { isSameHistory } from "../../src/store/greeting.ts";
import type { PositionMark } from "../../src/wire/hello.ts";

/** A store's history: which opening made each change. A copy shares a beginning with it. */
function marksOf(writers: readonly string[], opening: string, most = 16): PositionMark[] {
  const marks: PositionMark[] = [];
  for (const [after, mark] of writers.entries()) if (marks.at(-1)?.mark !== mark) marks.push({ after, mark });
  if (marks.at(-1)?.mark !== opening) marks.push({ after: writers.length, mark: opening });
  return marks.slice(-most);
}

/** Openings one after the other, each with so many changes; their names are never used twice. */
const openings = fc.array(fc.nat(4), { minLength: 1, maxLength: 24 });

test("[P67] a history that parted from the client's before its cursor is never taken for the same, one that did not always where marks are at hand", () => {
  let parted = 0;
  fc.assert(
    fc.property(openings, openings, fc.nat(60), fc.nat(60), (first, second, cut, at) => {
      const written = first.flatMap((count, n) => Array.from({ length: count }, () => `first-${n}`));
      const cursor = Math.min(at, written.length);
      const held = marksOf(written, `first-${first.length - 1}`);
      const shared = Math.min(cut, written.length);
      const since = second.flatMap((count, n) => Array.from({ length: count }, () => `second-${n}`));
      const told = [...written.slice(0, shared), ...since];
      fc.pre(told.length >= cursor);
      const same = isSameHistory(held, marksOf(told, `second-${second.length - 1}`), cursor);
      if (shared < cursor) {
        parted += 1;
        expect(same).toBe(false);
      } else if (second.length + first.length < 16) expect(same).toBe(true);
    }),
    { numRuns: 3000 },
  );
  expect(parted).toBeGreaterThan(100);
});
