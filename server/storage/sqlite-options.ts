import { invalidInput } from "../../src/model/errors.ts";
import { isPlainObject } from "../../src/model/json.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";

/** Which file {@link sqliteStorage} keeps, and how durably. */
export interface SqliteStorageOptions {
  /** The database file; `-wal`, `-shm` and `.lock` files stand beside it. Its folder must exist. */
  readonly path: string;
  /** What an acknowledgement survives: `power`, a power cut; `process`, the end of the process. By default the relay's. */
  readonly durability?: "power" | "process" | undefined;
  /** Speaks to SQLite; by default whichever module this runtime has. */
  readonly driver?: SqliteDriver | undefined;
  /** Sessions whose head is kept in memory, some 300 bytes each and their metadata. 20,000 by default. */
  readonly maxCachedHeads?: number | undefined;
}

const NAMES: readonly string[] = ["path", "durability", "driver", "maxCachedHeads"];

/** @throws InvalidInputError */
export function checkSqliteOptions(options: SqliteStorageOptions): void {
  const given: unknown = options;
  if (!isPlainObject(given)) throw invalidInput("options", "must be an object with a path");
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) throw invalidInput(name, "is no option of sqliteStorage");
  }
  const { path, durability = "power", driver, maxCachedHeads = 1 } = options;
  // SQLite takes these two for a database that is gone when it is closed.
  if (typeof path !== "string" || path.trim() === "" || path === ":memory:") {
    throw invalidInput("path", "must be the path of a file");
  }
  if (durability !== "power" && durability !== "process") {
    throw invalidInput("durability", 'must be "power" or "process"');
  }
  if (driver !== undefined && typeof driver !== "function")
    throw invalidInput("driver", "must be a function");
  if (!Number.isSafeInteger(maxCachedHeads) || maxCachedHeads < 1) {
    throw invalidInput("maxCachedHeads", "must be a whole number above 0");
  }
}
