import { readFileSync } from "node:fs";
import { Dexie, type DexieOptions } from "dexie";
import type { LocalDatabase } from "../../src/store/database.ts";
import type { SyncRows } from "../../src/store/sync-rows.ts";

/** A local database as schema 1 wrote it: 6 ops wait in 4 sessions, one of them a delete. */
export const OLD_ROWS: Readonly<Record<string, readonly Record<string, unknown>[]>> = JSON.parse(
  readFileSync(new URL("../data/local-schema-1.json", import.meta.url), "utf8"),
  (_, value) =>
    typeof value === "object" && value !== null && typeof value.$bytes === "string"
      ? new Uint8Array(Buffer.from(value.$bytes, "base64"))
      : value,
);

/** The stores of schema 1, as they stood in browsers. Never changes. */
export const OLD_STORES = {
  sessions: "id,[updatedAt+id]",
  runs: "[session+generation+start]",
  outbox: "[session+n]",
  rejected: "[session+opId]",
  state: "[session+n],[unsent+session+n]",
  generations: "[session+generation]",
  meta: "key",
  holdfast: "key",
};

/** Puts the old rows where a database of today stands, as if it had opened an old one. */
export function writeOldRows(db: LocalDatabase<SyncRows>): Promise<void> {
  const tables = Object.keys(OLD_ROWS) as (keyof SyncRows)[];
  return db.write(tables, async (tx) => {
    for (const table of tables)
      for (const row of OLD_ROWS[table] ?? []) await tx.put(table, row as unknown as SyncRows[typeof table]);
  });
}

/** The old database in IndexedDB, left open as the tab of an old bundle has it. */
export async function openOldDatabase(name: string, options: DexieOptions): Promise<Dexie> {
  const dexie = new Dexie(name, options);
  dexie.version(1).stores(OLD_STORES);
  await dexie.open();
  for (const [table, rows] of Object.entries(OLD_ROWS)) await dexie.table(table).bulkPut([...rows]);
  return dexie;
}
