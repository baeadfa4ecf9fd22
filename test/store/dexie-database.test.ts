import { Dexie } from "dexie";
import { IDBTransaction } from "fake-indexeddb";
import { describe, expect, onTestFinished, test } from "vitest";
import type { StorageError } from "../../src/model/errors.ts";
import { DexieDatabase } from "../../src/store/dexie-database.ts";
import { localDatabaseCases } from "../contracts/local-database.ts";
import { TEST_SCHEMA, type TestRows } from "../contracts/test-rows.ts";
import { fakeBrowser } from "../support/fake-browser.ts";

describe("DexieDatabase as a local database", () => {
  const cases = localDatabaseCases(async () => {
    const browser = fakeBrowser();
    return {
      open: async () => new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "contract", ...browser }),
      delivered: () => new Promise((resolve) => setImmediate(resolve)),
    };
  });
  for (const { name, run } of cases) test(name, run);
});

/** The raw connection behind the database of that name. */
function connection(name: string): IDBDatabase {
  const { connections } = Dexie as unknown as { readonly connections: readonly InstanceType<typeof Dexie>[] };
  const found = connections.find((dexie) => dexie.name === name);
  if (found === undefined) throw new Error(`${name} is not open`);
  return found.backendDB();
}

describe("A database in IndexedDB", () => {
  test("[H10] a platform without IndexedDB is told as unavailable, and asked again at the next use", async () => {
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "none" });
    const expected = { name: "StorageError", reason: "unavailable" };
    await expect(db.open()).rejects.toMatchObject(expected);
    await expect(db.read(["notes"], (tx) => tx.list("notes"))).rejects.toMatchObject(expected);
    await expect(db.write(["notes"], (tx) => tx.put("notes", { id: "x", value: 1 }))).rejects.toMatchObject(
      expected,
    );
    await db.close();
  });

  test("[C12] a database that a newer version opened is refused and left alone", async () => {
    const browser = fakeBrowser();
    const newer = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", version: 2, ...browser });
    await newer.write(["notes"], (tx) => tx.put("notes", { id: "new", value: 1 }));
    await newer.close();
    const lost: StorageError[] = [];
    const older = new DexieDatabase<TestRows>(TEST_SCHEMA, {
      name: "db",
      version: 1,
      lost: (error) => lost.push(error),
      ...browser,
    });
    const write = older.write(["notes"], (tx) => tx.delete("notes", ["new"]));
    await expect(write).rejects.toMatchObject({ name: "StorageError", reason: "upgrade-required" });
    await expect(older.read(["notes"], (tx) => tx.list("notes"))).rejects.toMatchObject({
      reason: "upgrade-required",
    });
    expect(lost.map(({ reason }) => reason)).toEqual(["upgrade-required"]);
    const again = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", version: 2, ...browser });
    expect(await again.read(["notes"], (tx) => tx.list("notes"))).toHaveLength(1);
  });

  test("[C12] an open tab makes way for a newer version and refuses from then on", async () => {
    const browser = fakeBrowser();
    const lost: StorageError[] = [];
    const older = new DexieDatabase<TestRows>(TEST_SCHEMA, {
      name: "db",
      lost: (error) => lost.push(error),
      ...browser,
    });
    await older.write(["notes"], (tx) => tx.put("notes", { id: "old", value: 1 }));
    const newer = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", version: 2, ...browser });
    expect(await newer.read(["notes"], (tx) => tx.list("notes"))).toHaveLength(1);
    const write = older.write(["notes"], (tx) => tx.put("notes", { id: "late", value: 1 }));
    await expect(write).rejects.toMatchObject({ reason: "upgrade-required" });
    expect(lost).toHaveLength(1);
    expect(await newer.read(["notes"], (tx) => tx.list("notes"))).toHaveLength(1);
  });

  test("[C13] opening that waits for an old tab is told, goes on once that closes, and can be given up", async () => {
    const browser = fakeBrowser();
    // A tab of other software: it does not make way for a newer version.
    const old = await new Promise<IDBDatabase>((resolve) => {
      const request = browser.indexedDB.open("db", 1);
      request.onsuccess = () => resolve(request.result);
    });
    let blocked = 0;
    const open = (): DexieDatabase<TestRows> =>
      new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", blocked: () => (blocked += 1), ...browser });
    const given = open();
    const refused = given.write(["notes"], (tx) => tx.put("notes", { id: "x", value: 1 }));
    while (blocked === 0) await new Promise((resolve) => setImmediate(resolve));
    await given.close();
    await expect(refused).rejects.toMatchObject({ code: "storage", reason: "closed" });
    const patient = open();
    const written = patient.write(["notes"], (tx) => tx.put("notes", { id: "y", value: 1 }));
    old.close();
    await written;
    expect(await patient.read(["notes"], (tx) => tx.list("notes"))).toEqual([{ id: "y", value: 1 }]);
    await patient.close();
  });

  test("[C7] a database deleted while its connection was gone is not taken up again as if it were the same", async () => {
    const browser = fakeBrowser();
    const lost: StorageError[] = [];
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, {
      name: "evicted",
      lost: (error) => lost.push(error),
      ...browser,
    });
    await db.write(["notes"], (tx) => tx.put("notes", { id: "x", value: 1 }));
    // As a browser does that evicts an origin: the connections close without a word, then the data goes.
    const raw = connection("evicted");
    raw.close();
    raw.onclose?.(new Event("close"));
    await new Dexie("evicted", browser).delete();
    const write = db.write(["notes"], (tx) => tx.put("notes", { id: "ghost", value: 1 }));
    await expect(write).rejects.toMatchObject({ reason: "reset" });
    expect(lost.map(({ reason }) => reason)).toEqual(["reset"]);
  });

  test("[C37, H1] tabs that open a new database at the same moment all have the same one", async () => {
    const browser = fakeBrowser();
    const tabs = Array.from(
      { length: 8 },
      () => new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "fresh", ...browser }),
    );
    await Promise.all(
      tabs.map((db, n) => db.write(["notes"], (tx) => tx.put("notes", { id: `${n}`, value: n }))),
    );
    for (const db of tabs)
      expect(await db.read(["notes"], (tx) => tx.list("notes"))).toHaveLength(tabs.length);
    for (const db of tabs) await db.close();
  });

  test("[C54] a connection that the browser closed is opened again, and the write has one effect", async () => {
    const browser = fakeBrowser();
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "lost", ...browser });
    await db.write(["notes"], (tx) => tx.put("notes", { id: "counter", value: 1 }));
    connection("lost").close();
    await db.write(["notes"], async (tx) => {
      const value = Number((await tx.get("notes", ["counter"]))?.value);
      await tx.put("notes", { id: "counter", value: value + 1 });
    });
    expect(await db.read(["notes"], (tx) => tx.get("notes", ["counter"]))).toEqual({
      id: "counter",
      value: 2,
    });
    await db.close();
  });

  test("[C50] quota is told as such, also from inside of another error", async () => {
    const browser = fakeBrowser();
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", ...browser });
    await db.write(["notes"], (tx) => tx.put("notes", { id: "kept", value: 1 }));
    const write = db.write(["notes"], async (tx) => {
      await tx.put("notes", { id: "x", value: 1 });
      throw new Dexie.AbortError("Transaction aborted", new DOMException("full", "QuotaExceededError"));
    });
    await expect(write).rejects.toMatchObject({ name: "StorageError", reason: "quota" });
    expect(await db.read(["notes"], (tx) => tx.list("notes"))).toHaveLength(1);
    await db.close();
  });

  test("[H10] data that IndexedDB cannot hold is refused as a storage error and leaves nothing", async () => {
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", ...fakeBrowser() });
    const write = db.write(["notes"], async (tx) => {
      await tx.put("notes", { id: "first", value: 1 });
      await tx.put("notes", { id: "x", value: () => 1 });
    });
    await expect(write).rejects.toMatchObject({ name: "StorageError", reason: "failed" });
    expect(await db.read(["notes"], (tx) => tx.list("notes"))).toEqual([]);
    await db.close();
  });

  test("[H10] what is no change on the tabs' channel is ignored", async () => {
    const browser = fakeBrowser();
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "db", ...browser });
    let told = 0;
    db.watch(() => {
      told += 1;
    });
    const channel = browser.tabs.channel("holdfast db", () => {});
    for (const data of [null, 7, {}, { tables: 1, sessions: [] }]) channel.post(data);
    expect(told).toBe(0);
    channel.post({ tables: ["notes"], sessions: ["x"] });
    expect(told).toBe(1);
    await db.close();
  });

  test("[C40] the commit is asked for, not left to the end of the tab's turn", async () => {
    const browser = fakeBrowser();
    const db = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "commits", ...browser });
    await db.open();
    let commits = 0;
    const { commit } = IDBTransaction.prototype;
    onTestFinished(() => {
      IDBTransaction.prototype.commit = commit;
    });
    IDBTransaction.prototype.commit = function counted(): void {
      commits += 1;
      commit.call(this);
    };
    await db.write(["notes"], (tx) => tx.put("notes", { id: "x", value: 1 }));
    expect(commits).toBe(1);
    await db.read(["notes"], (tx) => tx.get("notes", ["x"]));
    expect(commits).toBe(1);
    await db.close();
  });
});
