import { StorageError } from "../../src/model/errors.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";

/** Changes when an older relay could misread the file. */
export const SCHEMA_VERSION = 1;

// Messages are a log by rowid with indexes beside it: clustered by session they were 2 to 3 times slower to append.
// A generation's rows are only those after what it kept. Ops are kept as long as their session's row, for ever.
// What is found by message or op id is indexed by that id first: ids of one time lie together, so that the writes of
// many sessions fall on few pages (2.25 times fewer bytes written than by session first).
const TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE actors (actor TEXT PRIMARY KEY, position INTEGER NOT NULL, living INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
  pk INTEGER PRIMARY KEY,
  actor TEXT NOT NULL,
  id TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  count INTEGER NOT NULL,
  last_id TEXT,
  state_cursor INTEGER NOT NULL,
  state_updates INTEGER NOT NULL,
  state_bytes INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  archived INTEGER NOT NULL,
  read_generation INTEGER NOT NULL,
  read_count INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  UNIQUE (actor, id)
);
CREATE INDEX sessions_by_change ON sessions (actor, seq);
CREATE TABLE messages (
  session INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  id TEXT NOT NULL,
  op TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_by_position ON messages (session, generation, idx);
CREATE INDEX messages_by_id ON messages (id, session);
CREATE TABLE generations (
  session INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  keep_generation INTEGER NOT NULL,
  keep_count INTEGER NOT NULL,
  op TEXT,
  count INTEGER,
  replaced_at INTEGER,
  PRIMARY KEY (session, generation)
) WITHOUT ROWID;
CREATE TABLE ops (
  session INTEGER NOT NULL,
  op TEXT NOT NULL,
  digest TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  generation INTEGER NOT NULL,
  count INTEGER NOT NULL,
  last_id TEXT,
  added INTEGER NOT NULL,
  state_cursor INTEGER NOT NULL,
  PRIMARY KEY (op, session)
) WITHOUT ROWID;
CREATE TABLE state_updates (
  session INTEGER NOT NULL,
  n INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (session, n)
) WITHOUT ROWID;
`;

// Which opening of the file made an actor's changes after a position: what tells this file from an older copy put back.
const MARKS = `
CREATE TABLE IF NOT EXISTS marks (
  actor TEXT NOT NULL,
  after INTEGER NOT NULL,
  mark TEXT NOT NULL,
  PRIMARY KEY (actor, after)
) WITHOUT ROWID;
`;

/** Makes the tables in a new file, and checks the version of an old one. @throws StorageError, and what SQLite throws */
export function prepareSchema(database: SqliteDatabase, fresh: { storeId: string }): { storeId: string } {
  const exists = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").get();
  if (exists === undefined) {
    if (database.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() !== undefined) {
      throw new StorageError("The database holds something else than a relay's sessions", {
        reason: "corrupt",
      });
    }
    database.exec("BEGIN IMMEDIATE");
    database.exec(TABLES);
    database.exec(MARKS);
    const put = database.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
    put.run("schema", String(SCHEMA_VERSION));
    put.run("store", fresh.storeId);
    database.exec("COMMIT");
    return fresh;
  }
  const read = database.prepare("SELECT value FROM meta WHERE key = ?");
  const version = Number(read.get("schema")?.value);
  if (!(version >= 1)) throw new StorageError("The database names no schema version", { reason: "corrupt" });
  if (version > SCHEMA_VERSION) {
    const message = `The database was written by a newer relay (schema ${version}, this one knows ${SCHEMA_VERSION})`;
    throw new StorageError(message, { reason: "upgrade-required" });
  }
  const storeId = read.get("store")?.value;
  if (typeof storeId !== "string")
    throw new StorageError("The database names no store", { reason: "corrupt" });
  // Files from before there were marks have none for what they hold.
  database.exec(MARKS);
  return { storeId };
}
