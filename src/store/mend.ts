import { isPlainObject, type JsonObject } from "../model/json.ts";
import type { LocalDatabase, Reader, Writer } from "./database.ts";
import { withHead } from "./land.ts";
import { readMessages, truncateLog } from "./log-rows.ts";
import { unread } from "./put-back.ts";
import { countSessions, isCaughtUp, namedIn, putSession, SESSION_TABLES } from "./session-rows.ts";
import { storageError } from "./storage-failure.ts";
import { parseLog } from "./stored-log.ts";
import type { RunRow, SessionRow, SyncRows } from "./sync-rows.ts";

/** Sessions that are to be fetched again stand in `meta` under this and their id, until the leading tab has begun to. */
const HURT = "hurt/";
/** What could not be read is kept in `meta`, as it was found, under this. */
const ASIDE = "aside/";
/** The key in `meta` that has the catalog read again from its beginning. */
export const REREAD = "reread";

/** What was found amiss in the table of sessions. */
export interface Findings {
  readonly unsound: readonly string[];
  /** There are fewer rows than were stored. */
  readonly missing: boolean;
}

/** Looks through the sessions' rows for what cannot be used, and compares their number with what was counted (C8, C59). */
export function examine(rows: readonly SessionRow[], counted: number | undefined): Findings {
  const unsound = rows.filter((row) => !isSound(row)).map(({ id }) => id);
  return { unsound, missing: counted !== undefined && namedIn(rows) < counted };
}

/**
 * Sets aside the rows that cannot be used, in whose place the relay's are fetched: of the log and of what the session is.
 * What waits in the outbox and what is unsent of the state stays. Nothing is read as deleted.
 */
export async function setAsideSessions(
  db: LocalDatabase<SyncRows>,
  { unsound }: Findings,
  at: string,
): Promise<void> {
  await db.write(SESSION_TABLES, async (tx) => {
    for (const id of unsound) {
      const row: Partial<Record<keyof SessionRow, unknown>> | undefined = await tx.get("sessions", [id]);
      if (row === undefined) continue;
      await tx.put("meta", { key: `${ASIDE}sessions/${id}`, value: row });
      await tx.delete("sessions", [id]);
      for (const table of ["runs", "generations"] as const) await tx.deleteRange(table, { prefix: [id] });
      const [op] = await tx.list("outbox", { prefix: [id], limit: 1 });
      const incarnation = typeof row.incarnation === "string" ? row.incarnation : (op?.incarnation ?? null);
      if (incarnation === null && op === undefined) continue;
      await putSession(tx, unread(id, incarnation, at));
      await markHurt(tx, id);
    }
    await countSessions(tx);
    await tx.put("meta", { key: REREAD, value: true });
  });
}

/**
 * Has the log of a session that was found damaged fetched again, where the relay has it. Once a session: what does not help
 * is not done in a loop.
 */
export function refetchHurt(
  db: LocalDatabase<SyncRows>,
  failed: (error: unknown) => void,
): (session: string) => void {
  const hurt = new Set<string>();
  return (session) => {
    if (hurt.has(session)) return;
    hurt.add(session);
    failed(storageError("corrupt"));
    db.write(["meta"], (tx) => markHurt(tx, session)).catch((error: unknown) => {
      hurt.delete(session);
      failed(error);
    });
  };
}

/** Notes that rows of the session's log are missing or cannot be read. */
async function markHurt(tx: Writer<SyncRows>, session: string): Promise<void> {
  await tx.put("meta", { key: HURT + session, value: true });
}

/** The session that such a note is about. */
export function hurtIn(key: string): string | undefined {
  return key.startsWith(HURT) ? key.slice(HURT.length) : undefined;
}

/** All sessions of which that was noted. */
export async function hurtSessions(tx: Reader<SyncRows>): Promise<string[]> {
  const rows = await tx.list("meta", { from: [HURT], to: ["hurt0"] });
  return rows.map(({ key }) => key.slice(HURT.length));
}

/**
 * Makes the session's log end before the first message that is missing or cannot be read, so that a pull brings it and all
 * behind it; rows that cannot be read are set aside. Tells whether a pull is due.
 */
export async function mendLog(tx: Writer<SyncRows>, session: string): Promise<boolean> {
  // What removes the note is told like any change: that must not come here again.
  if ((await tx.get("meta", [HURT + session])) === undefined) return false;
  await tx.delete("meta", [HURT + session]);
  const row = await tx.get("sessions", [session]);
  // Where the relay has none of it there is nothing to fetch: it stays, with its damage told.
  if (row === undefined || row.incarnation === null) return false;
  const { generation, count } = row.head;
  const stored = await readMessages(tx, session, { generation, from: 0, to: count });
  const from = parseLog(stored, 0).damaged[0]?.index;
  if (from === undefined) return !isCaughtUp(row);
  for (const run of await tx.list("runs", { prefix: [session, generation] })) {
    if (isReadable(run)) continue;
    await tx.put("meta", { key: `${ASIDE}runs/${session}/${generation}/${run.start}`, value: run });
  }
  await truncateLog(tx, session, { generation, count: from });
  const cut = await withHead(tx, row, { generation, count: from });
  await putSession(tx, { ...cut, fetched: false });
  return true;
}

function isReadable({ messages, start }: RunRow): boolean {
  const held: unknown = messages;
  return Array.isArray(held) && parseLog(held as JsonObject[], start).damaged.length === 0;
}

function isSound(row: { readonly [Field in keyof SessionRow]?: unknown }): boolean {
  const { incarnation, view, remote, outbox } = row;
  return (
    (incarnation === null || typeof incarnation === "string") &&
    isHead(row.head) &&
    isPlainObject(row.metadata) &&
    isPlainObject(row.read) &&
    typeof row.stateCursor === "number" &&
    typeof row.seq === "number" &&
    typeof row.updatedAt === "string" &&
    isPlainObject(remote) &&
    isHead(remote.head) &&
    isPlainObject(view) &&
    isHead(view.head) &&
    isPlainObject(view.metadata) &&
    typeof view.pending === "number" &&
    isPlainObject(outbox) &&
    typeof outbox.edition === "number"
  );
}

function isHead(head: unknown): boolean {
  return isPlainObject(head) && Number.isSafeInteger(head.generation) && Number.isSafeInteger(head.count);
}
