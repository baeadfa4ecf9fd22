import { StorageError } from "../../src/model/errors.ts";
import type { LocalDatabase } from "../../src/store/database.ts";
import type { SyncRows } from "../../src/store/sync-rows.ts";

/** Which transactions fail, by the tables they name. */
export interface Faults {
  read?: (tables: string) => boolean;
  write?: (tables: string) => boolean;
}

/** A database whose transactions fail where `faults` says so, before they begin. */
export function faulty(faults: Faults): (database: LocalDatabase<SyncRows>) => LocalDatabase<SyncRows> {
  const fault = () => Promise.reject(new StorageError("Told to fail", { reason: "failed" }));
  return (database) => ({
    read: (tables, work) => (faults.read?.(tables.join()) ? fault() : database.read(tables, work)),
    write: (tables, work) => (faults.write?.(tables.join()) ? fault() : database.write(tables, work)),
    watch: (listener) => database.watch(listener),
    close: () => database.close(),
    destroy: () => database.destroy(),
  });
}

/** The first that fits, and no other. */
export function once(fits: (tables: string) => boolean): (tables: string) => boolean {
  let left = 1;
  return (tables) => fits(tables) && left-- > 0;
}
