import type { LocalDatabase } from "./database.ts";
import { isWiped } from "./erase.ts";
import { storageError } from "./storage-failure.ts";
import type { SyncRows } from "./sync-rows.ts";

/**
 * A database that takes nothing after a wipe, told by the transaction itself: a tab that has not heard of the wipe yet
 * must not write what is deleted with the rest a moment later (C42). Refuses as a database that is `reset`.
 */
export function unwipedDatabase(db: LocalDatabase<SyncRows>): LocalDatabase<SyncRows> {
  return {
    read: (tables, work) => db.read(tables, work),
    write: (tables, work) =>
      db.write(tables.includes("meta") ? tables : [...tables, "meta"], async (tx) => {
        if (await isWiped(tx)) throw storageError("reset");
        return work(tx);
      }),
    watch: (listener) => db.watch(listener),
    close: () => db.close(),
    destroy: () => db.destroy(),
  };
}
