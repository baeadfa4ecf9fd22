import { createRequire } from "node:module";

/** What the limit relay needs of a SQLite binding; Node's own and better-sqlite3 both have it. */
export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: unknown[]): unknown; all(...values: unknown[]): unknown[] };
}

export function openSqlite(file: string): Database {
  const require = createRequire(import.meta.url);
  try {
    return new (require("better-sqlite3") as new (file: string) => Database)(file);
  } catch {
    // No compiled binding for this Node: it then has SQLite of its own.
    const { DatabaseSync } = require("node:sqlite") as { DatabaseSync: new (file: string) => Database };
    return new DatabaseSync(file);
  }
}
