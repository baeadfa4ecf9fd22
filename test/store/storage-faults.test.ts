import { Dexie } from "dexie";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HoldfastError, StorageError } from "../../src/model/errors.ts";
import { CircuitBreaker } from "../../src/store/circuit-breaker.ts";
import { isMarked, putMark } from "../../src/store/commit-mark.ts";
import { DexieDatabase } from "../../src/store/dexie-database.ts";
import { LIMIT_MS } from "../../src/store/dexie-options.ts";
import { isPassing, translateFailure } from "../../src/store/storage-failure.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { seededRandom } from "../../src/testing/random.ts";
import { TEST_SCHEMA, type TestRows } from "../contracts/test-rows.ts";
import { fakeBrowser } from "../support/fake-browser.ts";
import { FAULTS, type Fault, FaultyIndexedDb } from "../support/faulty-indexed-db.ts";

function profile(seed: number, faults: readonly Fault[] = FAULTS) {
  const browser = fakeBrowser();
  const faulty = new FaultyIndexedDb(seededRandom(seed), faults);
  const indexedDB = faulty.wrap(browser.indexedDB) as typeof browser.indexedDB;
  const open = (clock?: TestClock) =>
    new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "faulty", ...browser, indexedDB, clock });
  return { browser, faulty, open };
}

/** A clock that gives IndexedDB time between its timers. */
function slowClock(): TestClock {
  return new TestClock({ settle: () => new Promise((resolve) => setTimeout(resolve, 5)) });
}

/** Adds a row, and one to the counter: doubled, the counter tells; torn, they differ. */
const add = (db: DexieDatabase<TestRows>, id: string) =>
  db.write(["notes"], async (tx) => {
    const before = Number((await tx.get("notes", ["counter"]))?.value ?? 0);
    await tx.put("notes", { id, value: 1 });
    await tx.put("notes", { id: "counter", value: before + 1 });
    return before + 1;
  });

describe("IndexedDB that fails", () => {
  const injected = new Map<Fault, number>();
  let refused = 0;

  test("[C54, C50, H1] whatever goes wrong, a write that resolved is there once, and one that rejected is not there", async () => {
    const kinds = FAULTS.filter((fault) => fault !== "stuck");
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 12 }),
        async (seed, rate, writes) => {
          const { faulty, open } = profile(seed, kinds);
          const db = open();
          await add(db, "first");
          faulty.rate = rate;
          const told = new Map<string, boolean>();
          const work = Array.from({ length: writes }, async (_, n) => {
            try {
              await add(db, `row ${n}`);
              told.set(`row ${n}`, true);
            } catch (error) {
              expect(error).toBeInstanceOf(StorageError);
              told.set(`row ${n}`, false);
              refused += 1;
            }
          });
          // Some at once, some one after another.
          if (seed % 2 === 0) await Promise.all(work);
          else for (const one of work) await one;
          faulty.rate = 0;
          await add(db, "last");
          const rows = await db.read(["notes"], (tx) => tx.list("notes"));
          const there = new Set(rows.map(({ id }) => id));
          for (const [id, resolved] of told) expect(there.has(id), id).toBe(resolved);
          expect(rows.find(({ id }) => id === "counter")?.value).toBe(rows.length - 1);
          await db.close();
          for (const [fault, count] of faulty.injected)
            injected.set(fault, (injected.get(fault) ?? 0) + count);
        },
      ),
      { numRuns: 700 },
    );
    console.log(`faults: ${JSON.stringify(Object.fromEntries(injected))}; ${refused} writes refused`);
    for (const kind of kinds) expect(injected.get(kind), kind).toBeGreaterThan(30);
  }, 120_000);

  test.each(["closed", "closed-inside", "server-lost", "abort", "committed-unsaid"] as const)(
    "[C54] a write met by %s once has one effect, and nobody notices",
    async (fault) => {
      for (let seed = 0; seed < 20; seed++) {
        const { faulty, open } = profile(seed, [fault]);
        const db = open();
        await add(db, "before");
        faulty.rate = 100;
        const written = add(db, "row");
        // The second attempt finds it well again.
        while (faulty.injected.size === 0) await Promise.resolve();
        faulty.rate = 0;
        expect(await written).toBe(2);
        expect(await db.read(["notes"], (tx) => tx.get("notes", ["counter"]))).toMatchObject({ value: 2 });
        await db.close();
      }
    },
  );

  test("[C40, C53] a transaction that never ends is given up in bounded time, and holds up nobody after that", async () => {
    const clock = slowClock();
    const { faulty, open } = profile(1, ["stuck"]);
    const db = open(clock);
    await add(db, "before");
    faulty.rate = 100;
    const stuck = add(db, "stuck").catch((error: unknown) => error);
    while (clock.waiting === 0 || faulty.injected.size === 0)
      await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(LIMIT_MS.transaction);
    expect(await stuck).toMatchObject({ name: "StorageError", reason: "timeout" });
    faulty.rate = 0;
    expect(await add(db, "after")).toBe(2);
    await db.close();
  });

  test("[C53, H1, C16] a commit whose end is never told is looked up at the limit, and told as what it is: done, once", async () => {
    const clock = slowClock();
    const { faulty, open } = profile(1, ["committed-silent"]);
    const db = open(clock);
    await add(db, "before");
    const changes: unknown[] = [];
    db.watch((change) => changes.push([...change.tables]));
    faulty.rate = 100;
    const silent = add(db, "row").catch((error: unknown) => error);
    while (clock.waiting === 0 || faulty.injected.size === 0)
      await new Promise((resolve) => setTimeout(resolve, 1));
    faulty.rate = 0;
    await clock.advance(LIMIT_MS.transaction);
    await clock.advance(1_000);
    expect(await silent).toBe(2);
    expect(changes).toEqual([["notes"]]);
    expect(await add(db, "after")).toBe(3);
    await db.close();
  });

  test("[C53] a database that never opens is given up in bounded time", async () => {
    const clock = new TestClock();
    const silent = { open: () => ({}) } as unknown as IDBFactory;
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, {
      ...fakeBrowser(),
      name: "silent",
      indexedDB: silent,
      clock,
    });
    const opened = db.open().catch((error: unknown) => error);
    await clock.advance(LIMIT_MS.open);
    expect(await opened).toMatchObject({ name: "StorageError", reason: "timeout" });
  });

  test("[C54] storage that goes on failing is left alone for longer and longer, and taken up again by itself", async () => {
    const clock = slowClock();
    const { faulty, open } = profile(3, ["abort"]);
    const db = open(clock);
    await add(db, "before");
    faulty.rate = 100;
    const tries = async () => {
      const before = faulty.injected.get("abort") ?? 0;
      await expect(add(db, "row")).rejects.toMatchObject({ reason: "failed" });
      return (faulty.injected.get("abort") ?? 0) - before;
    };
    for (let n = 0; n < 3; n++) expect(await tries()).toBe(2);
    expect([await tries(), await tries()]).toEqual([0, 0]);
    await clock.advance(250);
    expect([await tries(), await tries()]).toEqual([2, 0]);
    faulty.rate = 0;
    await clock.advance(500);
    expect(await add(db, "after")).toBe(2);
    await db.close();
  });
});

describe("what keeps a failing storage from being asked too often, or an effect from being doubled", () => {
  test("[C54] calls that fail together are one failure: a burst does not make the storage rest", () => {
    const clock = new TestClock();
    const breaker = new CircuitBreaker(clock);
    const burst = Array.from({ length: 20 }, () => breaker.check());
    for (const begun of burst) breaker.failed(begun, new Error("lost"));
    expect(() => breaker.check()).not.toThrow();
    for (let n = 0; n < 2; n++) breaker.failed(breaker.check(), new Error("lost again"));
    expect(() => breaker.check()).toThrow("lost again");
  });

  test("[C54] two tabs whose marks fall on one place keep each their own", async () => {
    const browser = fakeBrowser();
    const dexie = new Dexie("marks", browser);
    dexie.version(1).stores({ marks: "key" });
    const table = dexie.table<unknown, string>("marks");
    const of = (by: string, n: number) => ({ key: "mark/abc", by, n });
    for (let n = 1; n <= 3; n++) for (const by of ["one", "two"]) await putMark(table, of(by, n));
    for (const by of ["one", "two"]) {
      for (let n = 1; n <= 3; n++) expect(await isMarked(table, of(by, n))).toBe(true);
      expect(await isMarked(table, of(by, 4))).toBe(false);
    }
    dexie.close();
  });
});

describe("what an error of the browser's storage means", () => {
  const error = (name: string, message = "", inner?: Error) =>
    Object.assign(new Error(message), { name }, inner === undefined ? {} : { inner });

  test.each([
    [error("AbortError", "", error("QuotaExceededError")), "quota", false],
    [error("QuotaExceededError"), "quota", false],
    [error("DatabaseClosedError"), "closed", true],
    [error("InvalidStateError", "The database connection is closing."), "failed", true],
    [error("UnknownError", "Connection to Indexed Database server lost. Refresh the page"), "failed", true],
    [error("UnknownError", "Internal error opening backing store for indexedDB.open."), "corrupt", true],
    [
      error(
        "InvalidStateError",
        "A mutation operation was attempted on a database that did not allow mutations.",
      ),
      "unavailable",
      false,
    ],
    [error("SecurityError"), "unavailable", false],
    [error("MissingAPIError"), "unavailable", false],
    [error("VersionError"), "upgrade-required", false],
    [error("DataCloneError"), "failed", false],
    [error("ConstraintError"), "failed", false],
    [error("DataError"), "failed", false],
  ])("[C50, C52, C54] %s is told as %s; worth another try: %s", (thrown, reason, passing) => {
    expect(translateFailure(thrown)).toMatchObject({ name: "StorageError", reason });
    expect(isPassing(thrown)).toBe(passing);
  });

  test("[H10] what the work itself throws comes back as it is, and is no trouble of the storage", () => {
    for (const thrown of [new TypeError("mine"), new HoldfastError("mine", { code: "closed" }), "mine"]) {
      expect(translateFailure(thrown)).toBe(thrown);
      expect(isPassing(thrown)).toBe(false);
    }
  });
});
