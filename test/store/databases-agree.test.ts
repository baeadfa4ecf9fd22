import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change, LocalDatabase, Range, Reader, Writer } from "../../src/store/database.ts";
import { DexieDatabase } from "../../src/store/dexie-database.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { type Line, TEST_SCHEMA, type TestRows } from "../contracts/test-rows.ts";
import { fakeBrowser } from "../support/fake-browser.ts";

type Step =
  | { readonly do: "put"; readonly row: Line }
  | { readonly do: "delete"; readonly key: readonly [string, number] }
  | { readonly do: "deleteRange" | "list"; readonly range: Range };

const session = fc.constantFrom("", "a", "a!", "b", "é");
const n = fc.integer({ min: -2, max: 6 });
const at = fc.constantFrom(undefined, "t1", "t2");
const row: fc.Arbitrary<Line> = fc
  .record({ session, n, at, text: fc.string({ maxLength: 2 }) })
  .map(({ at: time, ...rest }) => (time === undefined ? rest : { ...rest, at: time }));
const ends = { reverse: fc.boolean(), limit: fc.option(fc.nat(4), { nil: undefined }) };
const within = fc.option(
  n.map((value) => [value]),
  { nil: undefined },
);
const range: fc.Arbitrary<Range> = fc
  .oneof(
    fc.record({ prefix: session.map((one) => [one]), from: within, to: within, ...ends }),
    fc.record({
      from: fc.option(
        session.map((one) => [one]),
        { nil: undefined },
      ),
      ...ends,
    }),
    fc.record({ prefix: fc.tuple(session, n), ...ends }),
    fc.record({ by: fc.constant("recent"), prefix: fc.constantFrom([], ["t1"], ["t2", "a"]), ...ends }),
  )
  .map(
    (made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as Range,
  );
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("put" as const), row }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), key: fc.tuple(session, n) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteRange" as const), range }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("list" as const), range }) },
);
const transaction = fc.record({ steps: fc.array(step, { maxLength: 8 }), fails: fc.boolean() });

async function perform(tx: Writer<TestRows>, steps: readonly Step[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const one of steps) {
    if (one.do === "put") await tx.put("lines", one.row);
    else if (one.do === "delete") await tx.delete("lines", one.key);
    else if (one.do === "deleteRange") await tx.deleteRange("lines", one.range);
    else seen.push(await list(tx, one.range));
  }
  return seen;
}
const list = (tx: Reader<TestRows>, one: Range): Promise<Line[]> => tx.list("lines", one);

/** What a database shows of a run: every list read, every failure, every change told, and what is left. */
async function trail(
  db: LocalDatabase<TestRows>,
  run: readonly { readonly steps: readonly Step[]; readonly fails: boolean }[],
): Promise<unknown[]> {
  const shown: unknown[] = [];
  let told: Change[] = [];
  db.watch((change) => told.push(change));
  for (const { steps, fails } of run) {
    const before = JSON.stringify(await db.read(["lines"], (tx) => list(tx, {})));
    const result = await db
      .write(["lines"], async (tx) => {
        const seen = await perform(tx, steps);
        if (fails) throw new Error("no");
        return seen;
      })
      .catch(String);
    const after = JSON.stringify(await db.read(["lines"], (tx) => list(tx, {})));
    // A commit that changed something must be told; one that changed nothing may be.
    shown.push(result, after, after !== before && told.length === 0 ? "a change was not told" : "");
    told = [];
  }
  shown.push(await db.read(["lines"], (tx) => list(tx, { by: "recent" })));
  await db.close();
  return shown;
}

describe("Databases", () => {
  test("[H1] in memory and in IndexedDB answer alike, whatever is written and read", async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(transaction, { minLength: 1, maxLength: 6 }), async (run) => {
        runs += 1;
        const inMemory = await trail(new MemoryDatabase<TestRows>(TEST_SCHEMA), run);
        const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: `agree-${runs}`, ...fakeBrowser() });
        expect(inMemory).toEqual(await trail(db, run));
      }),
      { numRuns: 150 },
    );
  });
});
