import { existsSync, statSync } from "node:fs";
import type { Reporter } from "../../src/env/reporter.ts";
import { StorageError } from "../../src/model/errors.ts";
import { type SqliteDatabase, type SqliteDriver, sqliteDriver, sqliteError } from "./sqlite-driver.ts";

/** Up to this size everything is checked at each opening: half a second at the 470 MB a second that were measured. */
const FULL_CHECK_BYTES = 256 * 1024 ** 2;
/** Up to this size the pages are; beyond it a start would take too long, and it is left to the command. */
const QUICK_CHECK_BYTES = 2 * 1024 ** 3;

/**
 * Looks through a file before it is opened for writing, so that one that is damaged is refused at the start and not at
 * the first question, and is left as it was found. @throws StorageError
 */
export function checkBeforeOpening(
  path: string,
  options: { readonly driver: SqliteDriver; readonly reporter: Reporter },
): void {
  const bytes = bytesOf(path);
  const logBytes = bytesOf(`${path}-wal`);
  if (bytes === 0) {
    // SQLite would take it for a new file, and throw away the log.
    if (logBytes > 0) throw damaged(path, EMPTIED);
    return;
  }
  const total = bytes + logBytes;
  if (total > QUICK_CHECK_BYTES) {
    options.reporter.report("info", "integrity-not-checked", { path, bytes: total });
    return;
  }
  // What was interrupted while the file was made is only rolled back by a connection that may write.
  const readOnly = !existsSync(`${path}-journal`);
  const database = options.driver(path, { readOnly });
  try {
    const depth = total > FULL_CHECK_BYTES ? "quick" : "full";
    const [problem] = problemsOf(database, { depth, most: 1 });
    if (problem !== undefined) throw damaged(path, problem);
  } finally {
    database.close();
  }
}

/** Everything that can be checked, whatever the size. Changes nothing. @throws StorageError when there is no such file */
export function checkSqliteFile(path: string): string[] {
  const driver = sqliteDriver();
  if (!existsSync(path)) throw new StorageError(`${path} is not there`, { reason: "unavailable" });
  if (bytesOf(path) === 0) return bytesOf(`${path}-wal`) === 0 ? [] : [EMPTIED];
  try {
    const database = driver(path, { readOnly: true });
    try {
      return problemsOf(database, { depth: "full", most: 100 });
    } finally {
      database.close();
    }
  } catch (error) {
    throw sqliteError(error, path);
  }
}

/** What is wrong with a database, in words; nothing when it is sound. */
function problemsOf(
  database: SqliteDatabase,
  options: { readonly depth: "full" | "quick"; readonly most: number },
): string[] {
  const { depth, most } = options;
  const pragma = depth === "full" ? "integrity_check" : "quick_check";
  const pages = database.prepare(`PRAGMA ${pragma}(${most})`).all();
  const problems = pages.map((row) => String(row[pragma])).filter((line) => line !== "ok");
  if (depth === "quick" || problems.length > 0 || !hasTable(database, "messages")) return problems;
  return CONTENT.flatMap(({ sql, says }) => {
    const found = database.prepare(`${sql} LIMIT ${most}`).all();
    return found.map((row) => `${says}: session ${String(row.session)}, ${String(row.place)}`);
  });
}

const EMPTIED = "it is empty, and the log beside it (-wal) is not";
const NAME = "(SELECT actor || ' / ' || id FROM sessions WHERE pk = session)";

/** What SQLite has no opinion on: a message or metadata that is no JSON would break every page that it stands in. */
const CONTENT: readonly { readonly sql: string; readonly says: string }[] = [
  {
    says: "a message is no JSON",
    sql: `SELECT ${NAME} AS session, 'generation ' || generation || ', position ' || idx AS place
          FROM messages WHERE NOT json_valid(body)`,
  },
  {
    says: "metadata is no JSON",
    sql: "SELECT actor || ' / ' || id AS session, 'metadata' AS place FROM sessions WHERE NOT json_valid(metadata)",
  },
  {
    says: "messages are missing between others",
    sql: `SELECT ${NAME} AS session, 'generation ' || generation AS place FROM messages
          GROUP BY messages.session, generation HAVING MAX(idx) - MIN(idx) + 1 <> COUNT(*)`,
  },
  {
    says: "the log does not end where the session says",
    sql: `SELECT actor || ' / ' || id AS session, 'count ' || count AS place FROM sessions AS s WHERE deleted = 0
          AND count <> COALESCE(
            (SELECT MAX(idx) + 1 FROM messages WHERE session = s.pk AND generation = s.generation),
            (SELECT keep_count FROM generations WHERE session = s.pk AND generation = s.generation), 0)`,
  },
];

function hasTable(database: SqliteDatabase, name: string): boolean {
  const found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name);
  return found !== undefined;
}

function damaged(path: string, problem: string): StorageError {
  return new StorageError(`${path} is damaged: ${problem}`, { reason: "corrupt" });
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
