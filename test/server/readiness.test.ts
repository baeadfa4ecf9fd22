import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Readiness } from "../../server/readiness.ts";
import { testHost } from "../../server/storage/conformance-tools.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { sqliteStorage } from "../../server/storage/sqlite.ts";
import { type SqliteDriver, sqliteDriver } from "../../server/storage/sqlite-driver.ts";
import { silentReporter } from "../../src/env/reporter.ts";
import { TestClock } from "../../src/testing/clock.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-ready-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function readinessOf(probe: () => Promise<void>) {
  const clock = new TestClock();
  const storage = Object.assign(memoryStorage(), { probe });
  return { clock, readiness: new Readiness(storage, { clock, reporter: silentReporter }) };
}

test("[H9] asked ten thousand times at once, the storage is asked once, and again after a second", async () => {
  let probes = 0;
  const { clock, readiness } = readinessOf(async () => {
    probes += 1;
  });
  const ask = () => Promise.all(Array.from({ length: 10_000 }, () => readiness.ready()));
  expect(new Set(await ask())).toEqual(new Set([true]));
  await ask();
  expect(probes).toBe(1);
  await clock.advance(1_000);
  await ask();
  expect(probes).toBe(2);
});

test("[H12] a storage that does not answer is not ready after two seconds", async () => {
  const { clock, readiness } = readinessOf(() => new Promise(() => {}));
  const asked = readiness.ready();
  await clock.advance(2_000);
  expect(await asked).toBe(false);
});

test("[H12] a relay that goes down is not ready", async () => {
  const { readiness } = readinessOf(async () => {});
  expect(await readiness.ready()).toBe(true);
  readiness.end();
  expect(await readiness.ready()).toBe(false);
});

test("[H12] without a probe a read tells as much", async () => {
  const clock = new TestClock();
  const storage = memoryStorage();
  const readiness = new Readiness(storage, { clock, reporter: silentReporter });
  expect(await readiness.ready()).toBe(false);
  await storage.open(testHost());
  await clock.advance(1_000);
  expect(await readiness.ready()).toBe(true);
});

test("[H12] SQLite is ready when it can commit, and not when the disk is full or it is closed", async () => {
  let full = false;
  const driver: SqliteDriver = (path, options) => {
    const database = sqliteDriver()(path, options);
    return {
      ...database,
      exec: (sql) => {
        if (full && sql === "COMMIT") throw Object.assign(new Error("disk is full"), { code: "SQLITE_FULL" });
        database.exec(sql);
      },
    };
  };
  const storage = sqliteStorage({ path: join(folder, "ready.db"), driver });
  await storage.open(testHost());
  await storage.probe?.();
  full = true;
  await expect(storage.probe?.()).rejects.toMatchObject({ code: "storage", reason: "quota" });
  full = false;
  await storage.probe?.();
  await storage.close();
  await expect(storage.probe?.()).rejects.toMatchObject({ reason: "closed" });
});
