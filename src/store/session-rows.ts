import { EMPTY_HEAD, EMPTY_REVISION, headEquals } from "../model/revision.ts";
import type { Reader, Writer } from "./database.ts";
import { viewAfter, viewOf, viewWhenConfirmed } from "./outbox.ts";
import { preview } from "./preview.ts";
import type { PendingOp, SessionRow, SyncRows } from "./sync-rows.ts";

/** A session's row and its ops in the outbox, as one transaction sees them. */
export interface SessionOnDisk {
  readonly row: SessionRow;
  readonly ops: readonly PendingOp[];
}

/** The tables that a change of one session may touch. */
export const SESSION_TABLES = [
  "sessions",
  "runs",
  "outbox",
  "rejected",
  "state",
  "generations",
  "meta",
] as const;

/** The session as it stands here; undefined when this device knows nothing of it. */
export async function findSession(tx: Reader<SyncRows>, id: string): Promise<SessionOnDisk | undefined> {
  const row = await tx.get("sessions", [id]);
  if (row === undefined) return undefined;
  return { row, ops: await tx.list("outbox", { prefix: [id] }) };
}

/** A session that neither the relay nor this device has written yet. */
export function blankSession(id: string, at: string): SessionRow {
  return {
    id,
    incarnation: null,
    head: EMPTY_HEAD,
    stateCursor: 0,
    metadata: {},
    archived: false,
    read: EMPTY_REVISION,
    preview: "",
    fetched: true,
    remote: { head: EMPTY_HEAD, stateCursor: 0 },
    seq: 0,
    updatedAt: at,
    view: {
      head: EMPTY_HEAD,
      metadata: {},
      archived: false,
      read: EMPTY_REVISION,
      preview: "",
      pending: 0,
      deleted: false,
    },
    outbox: { edition: 0, last: 0 },
  };
}

/** Stores a session's row with its view made anew from the outbox as it stands in this transaction. */
export async function putSession(tx: Writer<SyncRows>, row: SessionRow): Promise<SessionRow> {
  const ops = await tx.list("outbox", { prefix: [row.id] });
  const view = viewOf(row, ops, preview);
  const outbox =
    view.pending + row.view.pending === 0
      ? row.outbox
      : { edition: await takeNumber(tx), last: ops.at(-1)?.n ?? 0 };
  return store(tx, { ...row, view, outbox });
}

/** Stores the row of a session at the end of whose outbox `op` was put: reads none of the others. */
export async function putAfterOp(tx: Writer<SyncRows>, row: SessionRow, op: PendingOp): Promise<SessionRow> {
  // What is not known to have been read before gets a number of its own.
  const edition = row.view.pending === 0 ? op.n : row.outbox.edition;
  return store(tx, { ...row, view: viewAfter(row.view, op, preview), outbox: { edition, last: op.n } });
}

/**
 * Stores the row of a session whose first op was confirmed and has left the outbox, with nothing else changed there.
 * Reads none of the others where the op became what the view had expected of it.
 */
export async function putAfterConfirmed(
  tx: Writer<SyncRows>,
  before: SessionRow,
  row: SessionRow,
  first: PendingOp,
): Promise<SessionRow> {
  const view = viewWhenConfirmed(before.view, first, { before, after: row }, preview);
  return view === undefined ? putSession(tx, row) : store(tx, { ...row, view });
}

async function store(tx: Writer<SyncRows>, row: SessionRow): Promise<SessionRow> {
  const stored = { ...row, fetched: row.fetched || isCaughtUp(row) };
  await tx.put("sessions", stored);
  return stored;
}

/** Where the number of the sessions that the relay has named is kept, so that it is noticed when rows are gone (C8). */
export const SESSION_COUNT = "sessionCount";

/** A session was named, or one that was named has gone. */
export async function countSession(tx: Writer<SyncRows>, by: 1 | -1): Promise<void> {
  const held = (await tx.get("meta", [SESSION_COUNT]))?.value;
  if (typeof held === "number") await tx.put("meta", { key: SESSION_COUNT, value: held + by });
}

/** Counts them as they are. */
export async function countSessions(tx: Writer<SyncRows>): Promise<void> {
  await tx.put("meta", { key: SESSION_COUNT, value: namedIn(await tx.list("sessions")) });
}

export function namedIn(rows: readonly SessionRow[]): number {
  return rows.filter(({ incarnation }) => incarnation !== null).length;
}

/** Removes all that this device holds of a session but its ops. */
export async function dropSession(tx: Writer<SyncRows>, id: string): Promise<void> {
  await countSession(tx, -1);
  await tx.delete("sessions", [id]);
  for (const table of ["runs", "state", "generations"] as const)
    await tx.deleteRange(table, { prefix: [id] });
}

/** The next number in the outbox. */
export async function takeNumber(tx: Writer<SyncRows>): Promise<number> {
  const held = (await tx.get("meta", ["nextOp"]))?.value;
  const n = typeof held === "number" ? held : 1;
  await tx.put("meta", { key: "nextOp", value: n + 1 });
  return n;
}

/** Whether there is no such session for this device: never written, or its delete is on its way. */
export function isAbsent({ view, incarnation }: SessionRow): boolean {
  return view.deleted || (incarnation === null && view.pending === 0);
}

/** The sessions whose state has changes that the relay has not acknowledged; reads those changes and no others. */
export async function unsentSessions(tx: Reader<SyncRows>): Promise<ReadonlySet<string>> {
  const rows = await tx.list("state", { by: "unsent", prefix: [1] });
  return new Set(rows.map(({ session }) => session));
}

export async function hasUnsentState(tx: Reader<SyncRows>, session: string): Promise<boolean> {
  return (await tx.list("state", { by: "unsent", prefix: [1, session], limit: 1 })).length > 0;
}

/** Whether all that the catalog told of this session is held here. */
export function isCaughtUp(row: SessionRow): boolean {
  if (row.recheck === true) return row.seq === 0;
  return headEquals(row.head, row.remote.head) && row.stateCursor >= row.remote.stateCursor;
}
