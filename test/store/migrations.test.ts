import { describe, expect, test } from "vitest";
import type { LocalDatabase, Writer } from "../../src/store/database.ts";
import { KnownOutboxes } from "../../src/store/known-outboxes.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { MIGRATIONS, openSchema } from "../../src/store/migrations.ts";
import { viewOf } from "../../src/store/outbox.ts";
import { preview } from "../../src/store/preview.ts";
import { SYNC_SCHEMA, SYNC_SCHEMA_VERSION, type SyncRows } from "../../src/store/sync-rows.ts";
import { rowsOf } from "../client/setting.ts";
import { OLD_ROWS, writeOldRows } from "../support/old-database.ts";

function onDisk(disk: MemoryDisk): MemoryDatabase<SyncRows> {
  return new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk });
}

/** The database, which does `at` before the step of that number within a write: reads and writes are counted. */
function interrupted(
  db: LocalDatabase<SyncRows>,
  at: (step: number) => void,
): { db: LocalDatabase<SyncRows>; steps: () => number } {
  let step = 0;
  const counted = (tx: Writer<SyncRows>): Writer<SyncRows> =>
    new Proxy(tx, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...given: unknown[]): Promise<unknown> => {
          at(step++);
          return method.apply(target, given);
        };
      },
    });
  return {
    steps: () => step,
    db: {
      read: (tables, work) => db.read(tables, work),
      write: (tables, work) => db.write(tables, (tx) => work(counted(tx))),
      watch: (listener) => db.watch(listener),
      close: () => db.close(),
      destroy: () => db.destroy(),
    },
  };
}

async function mustBeCurrent(db: LocalDatabase<SyncRows>): Promise<void> {
  const rows = await rowsOf(db);
  expect(rows.meta).toContainEqual({ key: "schemaVersion", value: SYNC_SCHEMA_VERSION });
  for (const table of ["runs", "outbox", "rejected", "state", "generations"])
    expect(rows[table]).toEqual(OLD_ROWS[table]);
  await db.read(["sessions", "outbox"], async (tx) => {
    const sessions = await tx.list("sessions");
    expect(sessions).toHaveLength(4);
    for (const row of sessions) {
      const ops = await tx.list("outbox", { prefix: [row.id] });
      expect(row.view).toEqual(viewOf(row, ops, preview));
      expect((await new KnownOutboxes().peek(tx, row.id))?.ops).toEqual(ops);
      expect(row.outbox.last).toBe(ops.at(-1)?.n ?? 0);
    }
  });
}

describe("a database of an older schema", () => {
  test("[C12] the steps lead from the first version to the present one without a gap", () => {
    let version = 1;
    for (const { from, to } of MIGRATIONS) {
      expect(from).toBe(version);
      expect(to).toBe(from + 1);
      version = to;
    }
    expect(version).toBe(SYNC_SCHEMA_VERSION);
  });

  test("[C12] an upgrade that fails or is killed at any of its steps leaves the old rows, and runs whole the next time", async () => {
    const counting = interrupted(onDisk(new MemoryDisk()), () => undefined);
    await writeOldRows(counting.db);
    const before = counting.steps();
    await openSchema(counting.db);
    const steps = counting.steps() - before;
    expect(steps).toBeGreaterThan(10);
    for (const kind of ["fails", "is killed"] as const) {
      for (let at = 0; at < steps; at += 1) {
        const disk = new MemoryDisk();
        const filling = onDisk(disk);
        await writeOldRows(filling);
        const old = await rowsOf(filling);
        await filling.close();
        const dying = onDisk(disk);
        const hit = interrupted(dying, (step) => {
          if (step !== at) return;
          if (kind === "is killed") dying.kill();
          throw new Error("hit");
        });
        await expect(openSchema(hit.db)).rejects.toThrow();
        const next = onDisk(disk);
        expect(await rowsOf(next)).toEqual(old);
        await openSchema(next);
        await mustBeCurrent(next);
      }
    }
  });

  test("[C12] an upgrade is done once, and a database of today is not touched", async () => {
    const db = onDisk(new MemoryDisk());
    await writeOldRows(db);
    await openSchema(db);
    const upgraded = await rowsOf(db);
    await openSchema(db);
    expect(await rowsOf(db)).toEqual(upgraded);
  });

  test("[C12] rows of a newer schema are refused with a word to reload, and nothing of them is changed", async () => {
    const db = onDisk(new MemoryDisk());
    await openSchema(db);
    await db.write(["meta"], (tx) =>
      tx.put("meta", { key: "schemaVersion", value: SYNC_SCHEMA_VERSION + 1 }),
    );
    const newer = await rowsOf(db);
    await expect(openSchema(db)).rejects.toMatchObject({
      name: "StorageError",
      reason: "upgrade-required",
      message: expect.stringContaining("reload"),
    });
    expect(await rowsOf(db)).toEqual(newer);
  });
});
