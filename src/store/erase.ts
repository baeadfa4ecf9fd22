import type { Clock } from "../env/clock.ts";
import { within } from "../env/within.ts";
import { StorageError } from "../model/errors.ts";
import type { LocalDatabase, Reader } from "./database.ts";
import { unsentSessions } from "./session-rows.ts";
import { storageError } from "./storage-failure.ts";
import { SYNC_SCHEMA, type SyncRows } from "./sync-rows.ts";

/** The longest that a wipe takes, whatever the other tabs do. */
const WIPE_LIMIT_MS = 10_000;

/** How long a tab that hangs may hold up the deletion of a database that is empty by then. */
const DELETION_LIMIT_MS = 3_000;

const TABLES = Object.keys(SYNC_SCHEMA) as (keyof SyncRows)[];

/** The row that stands in a database whose rows were deleted by a wipe, until it is deleted itself or opened again. */
export const WIPED_ROW = ["wiped"] as const;

interface Erased {
  /** What was not on the relay. */
  readonly pending: number;
  readonly erased: boolean;
}

/**
 * Deletes all rows, in one transaction with the look at what is unsent: unless forced, nothing is deleted while anything
 * is. What is written afterwards is refused. @throws StorageError when nothing could be deleted.
 */
function eraseRows(db: LocalDatabase<SyncRows>, force: boolean): Promise<Erased> {
  const erased = db.write(TABLES, async (tx): Promise<Erased> => {
    const pending = (await tx.list("outbox")).length + (await unsentSessions(tx)).size;
    if (pending > 0 && !force) return { pending, erased: false };
    for (const table of TABLES) await tx.deleteRange(table, {});
    await tx.put("meta", { key: WIPED_ROW[0], value: true });
    return { pending, erased: true };
  });
  return erased.catch((error: unknown) => {
    // Deleted already.
    if (error instanceof StorageError && error.reason === "reset") return { pending: 0, erased: true };
    throw error;
  });
}

/**
 * Deletes a database whose rows are erased, unless somebody has begun it anew meanwhile. A tab that is frozen keeps it open
 * for as long as it likes; then the browser deletes what is an empty database as soon as it can.
 */
export async function deleteErased(db: LocalDatabase<SyncRows>, clock: Clock): Promise<void> {
  const begunAnew = await db.read(["meta"], isWiped).then(
    (wiped) => !wiped,
    () => false,
  );
  if (begunAnew) await db.close();
  else await within(clock, DELETION_LIMIT_MS, db.destroy(), () => undefined);
}

/**
 * Erases the rows, and then has the client ended. Nobody is told of it before it is done.
 * @throws StorageError `timeout` when a tab that hangs holds it up; it goes on all the same.
 */
export function wipe(
  db: LocalDatabase<SyncRows>,
  { clock, force }: { readonly clock: Clock; readonly force: boolean },
  end: () => Promise<void>,
): Promise<{ readonly pending: number }> {
  const wiping = eraseRows(db, force).then(async ({ pending, erased }) => {
    if (erased) await end();
    return { pending };
  });
  return within(clock, WIPE_LIMIT_MS, wiping, () => {
    throw storageError("timeout");
  });
}

/** Whether the rows were deleted by a wipe. */
export async function isWiped(tx: Reader<SyncRows>): Promise<boolean> {
  return (await tx.get("meta", WIPED_ROW)) !== undefined;
}
