import type { SqliteDatabase, SqliteStatement } from "./sqlite-driver.ts";

const COLUMNS = [
  "incarnation",
  "deleted",
  "generation",
  "count",
  "last_id",
  "state_cursor",
  "state_updates",
  "state_bytes",
  "metadata",
  "archived",
  "read_generation",
  "read_count",
  "updated_at",
  "seq",
] as const;

/** Every statement of the storage, prepared once. */
export interface Statements {
  readonly actor: SqliteStatement;
  readonly putActor: SqliteStatement;
  readonly marks: SqliteStatement;
  readonly putMark: SqliteStatement;
  readonly session: SqliteStatement;
  readonly addSession: SqliteStatement;
  readonly putSession: SqliteStatement;
  readonly changedSessions: SqliteStatement;
  readonly generation: SqliteStatement;
  readonly generations: SqliteStatement;
  readonly endGeneration: SqliteStatement;
  readonly beginGeneration: SqliteStatement;
  readonly idAt: SqliteStatement;
  readonly placesOf: SqliteStatement;
  readonly messages: SqliteStatement;
  readonly addMessage: SqliteStatement;
  readonly knownOp: SqliteStatement;
  readonly remember: SqliteStatement;
  readonly stateAfter: SqliteStatement;
  readonly addState: SqliteStatement;
  readonly dropState: SqliteStatement;
  readonly measureState: SqliteStatement;
  readonly erase: readonly SqliteStatement[];
  readonly putMeta: SqliteStatement;
  readonly totals: SqliteStatement;
}

export function prepareStatements(database: SqliteDatabase): Statements {
  const prepare = (sql: string): SqliteStatement => database.prepare(sql);
  return {
    actor: prepare("SELECT position, living FROM actors WHERE actor = ?"),
    putActor: prepare(
      `INSERT INTO actors (actor, position, living) VALUES (?, ?, ?)
       ON CONFLICT (actor) DO UPDATE SET position = excluded.position, living = excluded.living`,
    ),
    marks: prepare("SELECT after, mark FROM marks WHERE actor = ? ORDER BY after DESC LIMIT ?"),
    putMark: prepare("INSERT INTO marks (actor, after, mark) VALUES (?, ?, ?)"),
    session: prepare("SELECT * FROM sessions WHERE actor = ? AND id = ?"),
    addSession: prepare(
      `INSERT INTO sessions (actor, id, ${COLUMNS.join(", ")})
       VALUES (?, ?, ${COLUMNS.map(() => "?").join(", ")}) RETURNING pk`,
    ),
    putSession: prepare(
      `UPDATE sessions SET ${COLUMNS.map((name) => `${name} = ?`).join(", ")} WHERE pk = ?`,
    ),
    changedSessions: prepare("SELECT * FROM sessions WHERE actor = ? AND seq > ? ORDER BY seq LIMIT ?"),
    generation: prepare("SELECT * FROM generations WHERE session = ? AND generation = ?"),
    generations: prepare("SELECT * FROM generations WHERE session = ? ORDER BY generation DESC LIMIT ?"),
    endGeneration: prepare(
      `INSERT INTO generations (session, generation, keep_generation, keep_count, count, replaced_at)
       VALUES (?, ?, 0, 0, ?, ?)
       ON CONFLICT (session, generation) DO UPDATE SET count = excluded.count, replaced_at = excluded.replaced_at`,
    ),
    beginGeneration: prepare(
      "INSERT INTO generations (session, generation, keep_generation, keep_count, op) VALUES (?, ?, ?, ?, ?)",
    ),
    idAt: prepare("SELECT id FROM messages WHERE session = ? AND generation = ? AND idx = ?"),
    placesOf: prepare("SELECT generation, idx FROM messages WHERE session = ? AND id = ?"),
    messages: prepare(
      `SELECT id, op, body FROM messages
       WHERE session = ? AND generation = ? AND idx >= ? AND idx < ? ORDER BY idx`,
    ),
    addMessage: prepare(
      "INSERT INTO messages (session, generation, idx, id, op, body) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    knownOp: prepare("SELECT * FROM ops WHERE session = ? AND op = ?"),
    remember: prepare(
      `INSERT INTO ops (session, op, digest, incarnation, generation, count, last_id, added, state_cursor)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    stateAfter: prepare("SELECT n, bytes FROM state_updates WHERE session = ? AND n > ? ORDER BY n"),
    addState: prepare("INSERT INTO state_updates (session, n, bytes) VALUES (?, ?, ?)"),
    dropState: prepare("DELETE FROM state_updates WHERE session = ? AND n <= ?"),
    measureState: prepare(
      "SELECT COUNT(*) AS updates, COALESCE(SUM(LENGTH(bytes)), 0) AS bytes FROM state_updates WHERE session = ?",
    ),
    erase: ["messages", "generations", "state_updates"].map((table) =>
      prepare(`DELETE FROM ${table} WHERE session = ?`),
    ),
    putMeta: prepare(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
    totals: prepare(
      `SELECT (SELECT COUNT(*) FROM sessions WHERE deleted = 0) AS sessions,
              (SELECT COUNT(*) FROM messages) AS messages,
              (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) AS bytes`,
    ),
  };
}
