import type { LocalDatabase } from "../store/database.ts";
import { RENEWED } from "../store/put-back.ts";
import type { SyncRows } from "../store/sync-rows.ts";

/**
 * Tells whether all is here again that the relay had, after the database was begun anew: at once, and whenever it changes.
 * Read from the database, so that all tabs say the same, and the next start too.
 * @returns stops it.
 */
export function watchWhole(db: LocalDatabase<SyncRows>, told: (whole: boolean) => void): () => void {
  let over = false;
  const look = (): void => {
    db.read(["meta"], (tx) => tx.get("meta", [RENEWED])).then(
      (row) => {
        if (!over) told(row === undefined);
      },
      () => {
        // A database that fails says so to whoever uses it.
      },
    );
  };
  look();
  const unwatch = db.watch(({ tables, sessions }) => {
    if (tables.has("meta") && sessions.has(RENEWED)) look();
  });
  return () => {
    over = true;
    unwatch();
  };
}

/** Notes that all is here again, if it is: every session that the catalog names was fetched. Tells whether it is. */
export function noteWhole(db: LocalDatabase<SyncRows>): Promise<boolean> {
  return db.write(["meta", "sessions"], async (tx) => {
    if ((await tx.get("meta", [RENEWED])) === undefined) return true;
    const rows = await tx.list("sessions");
    if (rows.some(({ incarnation, fetched }) => incarnation !== null && !fetched)) return false;
    await tx.delete("meta", [RENEWED]);
    return true;
  });
}
