import { createRequire } from "node:module";
import { StorageError } from "../../src/model/errors.ts";

export type SqliteValue = string | number | null | Uint8Array;
export type SqliteRow = { readonly [column: string]: SqliteValue | undefined };

/** What the storage needs of SQLite, whichever module speaks to it. Everything is synchronous. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}
export interface SqliteStatement {
  run(...values: SqliteValue[]): void;
  get(...values: SqliteValue[]): SqliteRow | undefined;
  all(...values: SqliteValue[]): SqliteRow[];
  /** Leaving the loop early is fine. */
  iterate(...values: SqliteValue[]): Iterable<SqliteRow>;
}

/** Opens a file. A driver that cannot open for reading alone may leave `readOnly` out of account. */
export type SqliteDriver = (path: string, options?: { readonly readOnly: boolean }) => SqliteDatabase;

/** The runtime's own SQLite where it has one (Node 22.13 and later), else better-sqlite3. @throws StorageError */
export function sqliteDriver(): SqliteDriver {
  const reasons: string[] = [];
  for (const make of [builtInDriver, betterSqliteDriver]) {
    try {
      return make();
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  }
  const message = `No SQLite here: ${reasons.join("; ")}. Use Node 22.13 or later, or install better-sqlite3`;
  throw new StorageError(message, { reason: "unavailable" });
}

interface Binding {
  exec(sql: string): void;
  prepare(sql: string): unknown;
  close(): void;
}
type Opener = new (path: string, options: { readonly [name: string]: boolean }) => Binding;

/** @throws when this runtime has no `node:sqlite` */
export function builtInDriver(): SqliteDriver {
  const { DatabaseSync } = load("node:sqlite") as { DatabaseSync: Opener };
  return driverOf(DatabaseSync, "readOnly");
}

/** @throws when better-sqlite3 is not installed, or was built for another runtime */
export function betterSqliteDriver(): SqliteDriver {
  const Database = load("better-sqlite3") as Opener;
  // The module loads its binary at the first opening.
  new Database(":memory:", {}).close();
  return driverOf(Database, "readonly");
}

/** Both modules have statements of the same four methods. */
function driverOf(Database: Opener, nameOfReadOnly: string): SqliteDriver {
  return (path, { readOnly } = { readOnly: false }) => {
    const database = new Database(path, { [nameOfReadOnly]: readOnly });
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql) => database.prepare(sql) as SqliteStatement,
      close: () => database.close(),
    };
  };
}

/** What an error of either module means for the one who opens or writes. */
export function sqliteError(error: unknown, path: string): StorageError {
  if (error instanceof StorageError) return error;
  const problem = problemOf(error);
  const [reason, says] = PROBLEMS[problem];
  return new StorageError(`${path} ${says}`, { reason, cause: error });
}

type Problem = "busy" | "corrupt" | "full" | "unopenable" | "other";

const PROBLEMS = {
  busy: ["blocked", "is in use by another process"],
  corrupt: ["corrupt", "is no database of a relay, or it is damaged"],
  full: ["quota", "cannot grow: no room is left"],
  unopenable: ["unavailable", "cannot be opened: its folder is missing, or it may not be read and written"],
  other: ["failed", "could not be used"],
} as const;

const PROBLEM_OF_CODE: { readonly [code: number]: Problem } = {
  5: "busy",
  6: "busy",
  8: "unopenable",
  11: "corrupt",
  13: "full",
  14: "unopenable",
  26: "corrupt",
};
const CODE_OF_NAME: { readonly [name: string]: number } = {
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_READONLY: 8,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_NOTADB: 26,
};

function problemOf(error: unknown): Problem {
  const { errcode, code, message } = error as { errcode?: unknown; code?: unknown; message?: unknown };
  if (typeof errcode === "number") return PROBLEM_OF_CODE[errcode & 0xff] ?? "other";
  if (typeof code === "string") {
    const name = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? "";
    return PROBLEM_OF_CODE[CODE_OF_NAME[name] ?? 0] ?? "other";
  }
  // better-sqlite3 says this one itself, without a code.
  return typeof message === "string" && /directory does not exist/.test(message) ? "unopenable" : "other";
}

// By a name that tools do not follow: neither module is there everywhere.
function load(name: string): unknown {
  return createRequire(import.meta.url)(name);
}
