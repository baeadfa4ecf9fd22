import { StorageError } from "../model/errors.ts";
import type { LocalDatabase, Writer } from "./database.ts";
import { WIPED_ROW } from "./erase.ts";
import { countSessions, SESSION_COUNT, takeNumber } from "./session-rows.ts";
import { SYNC_SCHEMA, SYNC_SCHEMA_VERSION, type SyncRows } from "./sync-rows.ts";

/** Takes the rows of one schema version to those of the next. */
export interface Migration {
  readonly from: number;
  readonly to: number;
  /** Sees rows as that version wrote them. Runs in one transaction with the version row: all of it, or nothing. */
  migrate(tx: Writer<SyncRows>): Promise<void>;
}

/** Every step there is, in order and without a gap. */
export const MIGRATIONS: readonly Migration[] = [{ from: 1, to: 2, migrate: markOutboxes }];

const VERSION = ["schemaVersion"];
const TABLES = Object.keys(SYNC_SCHEMA) as (keyof SyncRows)[];

/**
 * Brings the rows to the version this code writes. Called before anything else is written; what is asked of the
 * database meanwhile waits for it.
 * @throws StorageError `upgrade-required` when newer code has written here: then nothing may be.
 */
export async function openSchema(
  db: LocalDatabase<SyncRows>,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await db.write(TABLES, (tx) => upgradeRows(tx, steps));
}

/** The same, in a transaction over all tables. */
export async function upgradeRows(
  tx: Writer<SyncRows>,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const held = (await tx.get("meta", VERSION))?.value;
  // A new database has nothing that a step could change.
  const version = typeof held === "number" ? held : 1;
  if (version > SYNC_SCHEMA_VERSION) {
    throw new StorageError("The local database was written by a newer version of this page: reload", {
      reason: "upgrade-required",
    });
  }
  for (const { from, migrate } of steps) if (from >= version) await migrate(tx);
  if ((await tx.get("meta", [SESSION_COUNT])) === undefined) await countSessions(tx);
  if (held !== SYNC_SCHEMA_VERSION)
    await tx.put("meta", { key: "schemaVersion", value: SYNC_SCHEMA_VERSION });
  // What was wiped and is still there, since a tab that hangs kept it from being deleted, begins anew.
  await tx.delete("meta", WIPED_ROW);
}

/** 1 → 2: each session's row tells which ops wait. */
async function markOutboxes(tx: Writer<SyncRows>): Promise<void> {
  const rows = await tx.list("sessions");
  if (rows.length === 0) return;
  const edition = await takeNumber(tx);
  for (const row of rows) {
    const [last] = await tx.list("outbox", { prefix: [row.id], reverse: true, limit: 1 });
    await tx.put("sessions", { ...row, outbox: { edition, last: last?.n ?? 0 } });
  }
}
