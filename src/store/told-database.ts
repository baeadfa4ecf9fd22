import type { Change, LocalDatabase } from "./database.ts";
import { Listeners } from "./listeners.ts";
import type { SyncRows } from "./sync-rows.ts";

/** A database whose watchers can be told of what no commit told them: what another tab did, and this one did not hear. */
export interface ToldDatabase extends LocalDatabase<SyncRows> {
  tell(change: Change): void;
}

export function toldDatabase(db: LocalDatabase<SyncRows>): ToldDatabase {
  const listeners = new Listeners<[Change]>();
  const tell = (change: Change): void => listeners.tell(change);
  db.watch(tell);
  return {
    tell,
    read: (tables, work) => db.read(tables, work),
    write: (tables, work) => db.write(tables, work),
    watch: (listener) => listeners.add(listener),
    close: () => db.close(),
    destroy: () => db.destroy(),
  };
}
