import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { testHost, Writer } from "../../../server/storage/conformance-tools.ts";
import type { RelayStorage } from "../../../server/storage/contract.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";
import { sqliteDriver } from "../../../server/storage/sqlite-driver.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

async function opened(storage: RelayStorage): Promise<RelayStorage> {
  await storage.open(testHost());
  return storage;
}

test("[H10] a second relay on the same file is refused while the first runs", async () => {
  const path = newPath();
  const first = await opened(sqliteStorage({ path }));
  await expect(opened(sqliteStorage({ path }))).rejects.toMatchObject({
    code: "storage",
    reason: "blocked",
  });
  await first.close();
  const second = await opened(sqliteStorage({ path }));
  await second.close();
});

test("[H10] a database of a newer relay is refused, and not changed", async () => {
  const path = newPath();
  const storage = await opened(sqliteStorage({ path }));
  const writer = new Writer(storage);
  await writer.does(writer.append(["a"]));
  await storage.close();
  const database = sqliteDriver()(path);
  database.exec("UPDATE meta SET value = '999' WHERE key = 'schema'");
  database.close();
  await expect(opened(sqliteStorage({ path }))).rejects.toMatchObject({ reason: "upgrade-required" });
  const check = sqliteDriver()(path);
  expect(check.prepare("SELECT COUNT(*) AS n FROM messages").get()?.n).toBe(1);
  check.close();
});

test("[H10] a file that is no database, and a folder that is not there, are said to be", async () => {
  const path = newPath();
  writeFileSync(path, "no database at all, but long enough to be taken for one ".repeat(50));
  await expect(opened(sqliteStorage({ path }))).rejects.toMatchObject({ reason: "corrupt" });
  expect(readFileSync(path, "utf8")).toMatch(/^no database/);
  const nowhere = sqliteStorage({ path: join(folder, "missing", "x.db") });
  await expect(opened(nowhere)).rejects.toMatchObject({ reason: "unavailable" });
});

test("[H10] a database without the relay's meta rows is refused as corrupt", async () => {
  const path = newPath();
  const database = sqliteDriver()(path);
  database.exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)");
  database.close();
  await expect(opened(sqliteStorage({ path }))).rejects.toMatchObject({ reason: "corrupt" });
});

test("[C6] a torn tail of the log that SQLite writes ahead: it opens, and all before the tear is there", async () => {
  const path = newPath();
  const storage = await opened(sqliteStorage({ path }));
  const writer = new Writer(storage);
  for (let n = 0; n < 50; n += 1) await writer.does(writer.append([`m${n}`]));
  // As a crash leaves it: the files are copied while the relay runs, and the end is lost.
  const torn = newPath();
  copyFileSync(path, torn);
  copyFileSync(`${path}-wal`, `${torn}-wal`);
  await storage.close();
  const size = statSync(`${torn}-wal`).size;
  truncateSync(`${torn}-wal`, size - 5_000);
  const handle = openSync(`${torn}-wal`, "r+");
  writeSync(handle, Buffer.alloc(3_000, 7), 0, 3_000, size - 9_000);
  closeSync(handle);
  const again = await opened(sqliteStorage({ path: torn }));
  const ids = await new Writer(again).ids();
  expect(ids.length).toBeGreaterThan(30);
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => `m${n}`));
  const next = new Writer(again);
  next.head = { generation: 0, count: ids.length, lastId: ids.at(-1) ?? null };
  await next.does({ ...next.append(["after"]), opId: "after" });
  await again.close();
});
