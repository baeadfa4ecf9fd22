import type { Clock } from "../env/clock.ts";
import { within } from "../env/within.ts";
import { StorageError } from "../model/errors.ts";
import type { LocalDatabase } from "./database.ts";
import { storageError } from "./storage-failure.ts";
import { SYNC_SCHEMA, type SyncRows } from "./sync-rows.ts";

/** The longest that a wipe takes, whatever the other tabs do. */
const WIPE_LIMIT_MS = 10_000;

/** How long a tab that hangs may hold up the deletion of a database that is empty by then. */
const DELETION_LIMIT_MS = 3_000;

const TABLES = Object.keys(SYNC_SCHEMA) as (keyof SyncRows)[];

/**
 * Deletes the database. Its rows go first and for certain: a tab that is frozen keeps it open for as long as it likes,
 * and then the browser deletes what is an empty database as soon as it can.
 * @throws StorageError when the rows could not be deleted.
 */
export async function eraseAll(db: LocalDatabase<SyncRows>, clock: Clock): Promise<void> {
  const erased = db.write(TABLES, async (tx) => {
    for (const table of TABLES) await tx.deleteRange(table, {});
  });
  await erased.catch((error: unknown) => {
    // Deleted already.
    if (!(error instanceof StorageError) || error.reason !== "reset") throw error;
  });
  await within(clock, DELETION_LIMIT_MS, db.destroy(), () => undefined);
}

/** A wipe as it was begun. @throws StorageError `timeout` when a tab that hangs holds it up; it goes on all the same. */
export function wipeWithin(clock: Clock, wipe: Promise<void>): Promise<void> {
  return within(clock, WIPE_LIMIT_MS, wipe, () => {
    throw storageError("timeout");
  });
}
