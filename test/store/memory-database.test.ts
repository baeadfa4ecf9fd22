import { describe, expect, test } from "vitest";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { localDatabaseCases } from "../contracts/local-database.ts";
import { TEST_SCHEMA, type TestRows } from "../contracts/test-rows.ts";

describe("MemoryDatabase as a local database", () => {
  const cases = localDatabaseCases(async () => {
    const disk = new MemoryDisk();
    return {
      open: async () => new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk }),
      delivered: async () => {},
    };
  });
  for (const { name, run } of cases) test(name, run);
});

describe("A tab that is killed", () => {
  test("[C9] leaves what had committed, and nothing of what had not", async () => {
    const disk = new MemoryDisk();
    const tab = new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk });
    await tab.write(["notes"], (tx) => tx.put("notes", { id: "kept", value: 1 }));
    const cut = tab.write(["notes"], async (tx) => {
      await tx.put("notes", { id: "cut", value: 1 });
      tab.kill();
      await tx.get("notes", ["kept"]);
    });
    const queued = tab.write(["notes"], (tx) => tx.put("notes", { id: "queued", value: 1 }));
    await expect(cut).rejects.toMatchObject({ code: "storage", reason: "closed" });
    await expect(queued).rejects.toMatchObject({ code: "storage", reason: "closed" });
    const next = new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk });
    const rows = await next.read(["notes"], (tx) => tx.list("notes"));
    expect(rows.map(({ id }) => id)).toEqual(["kept"]);
  });

  test("[C40] does not hold up another tab's write", async () => {
    const disk = new MemoryDisk();
    const tab = new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk });
    const other = new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk });
    const never = new Promise<void>(() => {});
    const hanging = tab.write(["notes"], async (tx) => {
      await tx.put("notes", { id: "hanging", value: 1 });
      await never;
    });
    const waiting = other.write(["notes"], (tx) => tx.put("notes", { id: "other", value: 1 }));
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    tab.kill();
    await waiting;
    await expect(hanging).rejects.toMatchObject({ reason: "closed" });
    const rows = await other.read(["notes"], (tx) => tx.list("notes"));
    expect(rows.map(({ id }) => id)).toEqual(["other"]);
  });

  test("[H1] work asked for before close still commits", async () => {
    const disk = new MemoryDisk();
    const tab = new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk });
    const first = tab.write(["notes"], (tx) => tx.put("notes", { id: "one", value: 1 }));
    const second = tab.write(["notes"], (tx) => tx.put("notes", { id: "two", value: 2 }));
    await tab.close();
    await Promise.all([first, second]);
    const next = new MemoryDatabase<TestRows>(TEST_SCHEMA, { disk });
    expect(await next.read(["notes"], (tx) => tx.list("notes"))).toHaveLength(2);
  });
});
