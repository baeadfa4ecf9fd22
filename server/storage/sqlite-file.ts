import type { Reporter } from "../../src/env/reporter.ts";
import { checkBeforeOpening } from "./sqlite-check.ts";
import { type SqliteDatabase, type SqliteDriver, sqliteError } from "./sqlite-driver.ts";
import { prepareSchema } from "./sqlite-schema.ts";

/** An open file, held against other processes. */
export interface SqliteFile {
  readonly database: SqliteDatabase;
  readonly storeId: string;
  close(): void;
}

export interface SqliteFileOptions {
  readonly path: string;
  readonly driver: SqliteDriver;
  readonly durability: "power" | "process";
  readonly newStoreId: string;
  readonly reporter: Reporter;
}

/** @throws StorageError that says what is wrong with the file */
export function openSqliteFile(options: SqliteFileOptions): SqliteFile {
  const { path, driver, durability, newStoreId } = options;
  const opened: SqliteDatabase[] = [];
  const closeAll = (): void => {
    for (const database of opened.reverse()) database.close();
  };
  try {
    // Heads are cached: two relays on one file would not see each other's. The lock ends with the process, however.
    const lock = driver(`${path}.lock`);
    opened.push(lock);
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    checkBeforeOpening(path, { driver, reporter: options.reporter });
    const database = driver(path);
    opened.push(database);
    database.exec("PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4000");
    database.exec(`PRAGMA synchronous = ${durability === "power" ? "FULL" : "NORMAL"}`);
    database.exec("PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY");
    const { storeId } = prepareSchema(database, { storeId: newStoreId });
    return { database, storeId, close: closeAll };
  } catch (error) {
    closeAll();
    throw sqliteError(error, path);
  }
}
