import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  accepted,
  bodies,
  present,
  testHost,
  WIDE,
  Writer,
} from "../../../server/storage/conformance-tools.ts";
import type { RelayStorage } from "../../../server/storage/contract.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";
import {
  type SqliteDatabase,
  type SqliteDriver,
  sqliteDriver,
} from "../../../server/storage/sqlite-driver.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

/** What the storage says to SQLite, and a way to make it fail. */
function watched(): { driver: SqliteDriver; said: string[]; fail: (sql: string) => boolean } {
  const watch = { said: [] as string[], fail: (_sql: string): boolean => false };
  const real = sqliteDriver();
  const check = (sql: string): void => {
    watch.said.push(sql);
    if (watch.fail(sql)) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  };
  const driver: SqliteDriver = (path) => {
    const database = real(path);
    const wrapped: SqliteDatabase = {
      exec: (sql) => {
        check(sql);
        database.exec(sql);
      },
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          run: (...values) => {
            check(sql);
            statement.run(...values);
          },
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
          iterate: (...values) => statement.iterate(...values),
        };
      },
      close: () => database.close(),
    };
    return wrapped;
  };
  return Object.assign(watch, { driver });
}

async function opened(storage: RelayStorage): Promise<RelayStorage> {
  await storage.open(testHost());
  return storage;
}

describe("grouped commits", () => {
  test("[H2] writes of one turn, of all sessions, are one transaction, answered after its commit", async () => {
    const watch = watched();
    const storage = await opened(sqliteStorage({ path: newPath(), driver: watch.driver }));
    watch.said.length = 0;
    const writers = Array.from(
      { length: 20 },
      (_, n) => new Writer(storage, { session: `s${n}`, actor: `a${n % 3}` }),
    );
    const answers = writers.map((writer) => storage.apply(writer.append(["a"])));
    let answered = 0;
    for (const answer of answers) void answer.then(() => (answered += 1));
    await Promise.resolve();
    expect(answered).toBe(0);
    expect((await Promise.all(answers)).every(({ ok }) => ok)).toBe(true);
    expect(watch.said.filter((sql) => /^(BEGIN|COMMIT)/.test(sql))).toEqual(["BEGIN IMMEDIATE", "COMMIT"]);
    await storage.close();
  });

  test("[H2] a session's row is written once a transaction, however many writes it has there", async () => {
    const watch = watched();
    const storage = await opened(sqliteStorage({ path: newPath(), driver: watch.driver }));
    const writer = new Writer(storage);
    await writer.does(writer.append(["0"]));
    watch.said.length = 0;
    let base = writer.head;
    const writes = Array.from({ length: 10 }, (_, n) => {
      const write = writer.append([`m${n}`], { base });
      base = { generation: 0, count: base.count + 1, lastId: `m${n}` };
      return storage.apply(write);
    });
    expect((await Promise.all(writes)).map((answer) => accepted(answer).seq)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
    expect(watch.said.filter((sql) => sql.startsWith("UPDATE sessions"))).toHaveLength(1);
    await storage.close();
  });

  test("[H2] a commit that fails refuses all of its writes with try-again, and nothing of them is left", async () => {
    const watch = watched();
    const path = newPath();
    const storage = await opened(sqliteStorage({ path, driver: watch.driver }));
    const writer = new Writer(storage);
    await writer.does(writer.append(["a"]));
    watch.fail = (sql) => sql === "COMMIT";
    const other = new Writer(storage, { session: "t" });
    const write = writer.append(["b"]);
    const answers = await Promise.all([storage.apply(write), storage.apply(other.append(["x"]))]);
    expect(answers).toMatchObject([{ code: "try-again" }, { code: "try-again" }]);
    watch.fail = () => false;
    expect(await writer.ids()).toEqual(["a"]);
    expect(await storage.position("ann")).toBe(1);
    expect(accepted(await storage.apply(write))).toMatchObject({ outcome: "applied", seq: 2 });
    await storage.close();
    const again = await opened(sqliteStorage({ path }));
    const { messages } = present(
      await again.pull(
        { actor: "ann", session: "s", incarnation: null },
        { have: null, stateCursor: 0, ...WIDE },
      ),
    );
    expect(messages.map(({ id }) => id)).toEqual(["a", "b"]);
    await again.close();
  });

  test("[C19] a write that fails in the middle leaves none of it, and takes none of its neighbours down", async () => {
    const watch = watched();
    const storage = await opened(sqliteStorage({ path: newPath(), driver: watch.driver }));
    const [bad, good] = [new Writer(storage, { session: "bad" }), new Writer(storage, { session: "good" })];
    await Promise.all([bad.does(bad.append(["a"])), good.does(good.append(["a"]))]);
    let inserted = 0;
    watch.fail = (sql) => {
      if (!sql.startsWith("INSERT INTO messages")) return false;
      inserted += 1;
      // The third message of the bad op, in the group and when it is tried alone.
      return inserted === 3 || inserted === 6;
    };
    const answers = await Promise.all([
      storage.apply(bad.append(["b", "c", "d"])),
      storage.apply(good.append(["b"])),
    ]);
    watch.fail = () => false;
    expect(answers).toMatchObject([
      { ok: false, code: "try-again" },
      { ok: true, outcome: "applied" },
    ]);
    expect([await bad.ids(), await good.ids()]).toEqual([["a"], ["a", "b"]]);
    await storage.close();
  });

  test("[H2] what was queued when the storage closes is committed and answered first", async () => {
    const path = newPath();
    const storage = await opened(sqliteStorage({ path }));
    const writer = new Writer(storage);
    const answer = storage.apply(writer.append(["a"]));
    await storage.close();
    expect(accepted(await answer).outcome).toBe("applied");
    await opened(storage);
    expect(await new Writer(storage).ids()).toEqual(["a"]);
    await storage.close();
  });

  test.each([
    ["power", "FULL"],
    ["process", "NORMAL"],
  ] as const)("[H2] durability %s is synchronous = %s, by WAL", async (durability, synchronous) => {
    const watch = watched();
    const storage = await opened(sqliteStorage({ path: newPath(), driver: watch.driver, durability }));
    const pragmas = watch.said.filter((sql) => sql.startsWith("PRAGMA")).join(";");
    expect(pragmas).toContain(`synchronous = ${synchronous}`);
    expect(pragmas).toContain("journal_mode = WAL");
    await storage.close();
  });
});

test("[H11] heads are cached and histories are not: a long log costs an append no more statements", async () => {
  const watch = watched();
  const storage = await opened(
    sqliteStorage({ path: newPath(), driver: watch.driver, durability: "process" }),
  );
  const writer = new Writer(storage);
  const cost = async (id: string): Promise<number> => {
    watch.said.length = 0;
    await writer.does(writer.append([id]));
    return watch.said.length;
  };
  await writer.does(writer.append(["first"]));
  const before = await cost("a");
  await writer.does({
    ...writer.append([]),
    messages: bodies(...Array.from({ length: 5_000 }, (_, n) => `m${n}`)),
  });
  expect(await cost("b")).toBe(before);
  expect(before).toBeLessThan(8);
  await storage.close();
});

test("[P14] more sessions than heads are cached are all still known", async () => {
  const storage = await opened(sqliteStorage({ path: newPath(), durability: "process", maxCachedHeads: 5 }));
  const writers = Array.from(
    { length: 30 },
    (_, n) => new Writer(storage, { session: `s${n}`, actor: `a${n % 7}` }),
  );
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(writers.map((writer) => writer.does(writer.append([`m${round}`]))));
  }
  for (const writer of writers) {
    expect(await writer.ids()).toEqual(["m0", "m1", "m2"]);
    expect(await storage.position(writer.actor)).toBeGreaterThan(11);
  }
  await storage.close();
});
