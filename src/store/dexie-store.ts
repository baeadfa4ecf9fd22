import { browserTabs } from "../env/browser.ts";
import type { Tabs } from "../env/tabs.ts";
import { invalidInput } from "../model/errors.ts";
import { nameOf } from "../model/json.ts";
import { readObject } from "./checked-write.ts";
import { DexieDatabase } from "./dexie-database.ts";
import { LOCAL_SCHEMA, type LocalRows } from "./local-rows.ts";
import { LocalSessionStore } from "./local-session-store.ts";

export interface DexieStoreOptions {
  /** The name of the IndexedDB database, which all tabs of the origin share. "holdfast-sessions" when absent. */
  readonly name?: string | undefined;
  /** IndexedDB, where it is not the platform's own. */
  readonly indexedDB?: IDBFactory | undefined;
  readonly IDBKeyRange?: typeof IDBKeyRange | undefined;
  /** What the tabs share, where it is not the browser's own. */
  readonly tabs?: Tabs | undefined;
}

/**
 * Sessions in this browser's IndexedDB, shared by its tabs. Opens at the first use; a browser that lets the page store
 * nothing, and one that is full, are told by a StorageError with the reason. `synchronize` holds among all tabs where the
 * browser has Web Locks, and within the tab elsewhere.
 */
export class DexieStore extends LocalSessionStore {
  readonly #db: DexieDatabase<LocalRows>;

  constructor(options: DexieStoreOptions = {}) {
    const {
      name = "holdfast-sessions",
      tabs = browserTabs(),
      indexedDB,
      IDBKeyRange,
    } = readObject(options, "options");
    if (typeof name !== "string") throw invalidInput("name", `must be text, not ${nameOf(name)}`);
    const db = new DexieDatabase<LocalRows>(LOCAL_SCHEMA, { name, indexedDB, IDBKeyRange });
    super(db, (key, work) => (tabs.locksAvailable ? tabs.lock(`holdfast ${name} ${key}`, work) : work()));
    this.#db = db;
  }

  /** Finishes what was asked for and lets go of the database; calls from then on are refused. */
  close(): Promise<void> {
    return this.#db.close();
  }
}
