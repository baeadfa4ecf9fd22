import { EMPTY_HEAD, EMPTY_REVISION, headEquals } from "../model/revision.ts";
import type { Reader, Writer } from "./database.ts";
import { viewOf } from "./outbox.ts";
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
  };
}

/** Stores a session's row with its view made anew from the outbox as it stands in this transaction. */
export async function putSession(tx: Writer<SyncRows>, row: SessionRow): Promise<SessionOnDisk> {
  const ops = await tx.list("outbox", { prefix: [row.id] });
  const view = viewOf(row, ops, preview);
  const stored = { ...row, fetched: row.fetched || isCaughtUp(row), view };
  await tx.put("sessions", stored);
  return { row: stored, ops };
}

/** Removes all that this device holds of a session but its ops. */
export async function dropSession(tx: Writer<SyncRows>, id: string): Promise<void> {
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
export function isAbsent({ row, ops }: SessionOnDisk): boolean {
  return row.view.deleted || (row.incarnation === null && ops.length === 0);
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
