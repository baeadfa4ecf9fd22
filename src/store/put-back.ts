import type { Writer } from "./database.ts";
import { addStateUpdate, lastStateRow } from "./land.ts";
import { messagesOf } from "./outbox.ts";
import { blankSession, countSessions, putSession, takeNumber } from "./session-rows.ts";
import type { PendingOp, RejectedRow, SessionRow, SyncRows } from "./sync-rows.ts";

/** One session's document as a tab holds it in memory. */
export interface HeldDocument {
  readonly session: string;
  /** The session's life; null until the relay has named one. */
  readonly incarnation: string | null;
  /** The whole of it, as one Yjs update. */
  readonly update: Uint8Array;
  /** It has changes that the relay has not acknowledged. */
  readonly unsent: boolean;
}

/** What of a database that was deleted is still in memory. */
export interface Remembered {
  readonly ops: readonly PendingOp[];
  readonly rejected: readonly RejectedRow[];
  readonly documents: readonly HeldDocument[];
  /** The incarnation that the relay named for a session. */
  readonly lifeOf: (session: string) => string | null;
}

/** An update of an empty document is as long as this. */
const EMPTY_UPDATE_BYTES = 2;

/**
 * Puts what a tab remembers into the database that was begun anew in the place of a deleted one: ops with their ids and in
 * their order, documents, and of the sessions that they exist, so that the relay is asked for them. Another tab may have
 * done so with the same already. Tells in which row each document stands.
 */
export async function putBack(
  tx: Writer<SyncRows>,
  remembered: Remembered,
  at: string,
): Promise<ReadonlyMap<string, number>> {
  const { ops, rejected, documents, lifeOf } = remembered;
  await tx.put("meta", { key: RENEWED, value: true });
  const held = (await tx.get("meta", ["nextOp"]))?.value;
  const next = Math.max(typeof held === "number" ? held : 1, 1 + (ops.at(-1)?.n ?? 0));
  await tx.put("meta", { key: "nextOp", value: next });
  const touched = new Map<string, string | null>();
  for (const op of ops) {
    if (!touched.has(op.session)) touched.set(op.session, lifeOf(op.session) ?? op.incarnation);
    await putOp(tx, op);
  }
  for (const row of rejected) await tx.put("rejected", row);
  for (const { session, incarnation } of documents) {
    const life = lifeOf(session) ?? incarnation;
    if (life !== null) touched.set(session, life);
  }
  for (const [session, incarnation] of touched) {
    const row = await tx.get("sessions", [session]);
    await putSession(tx, row ?? unread(session, incarnation, at));
  }
  await countSessions(tx);
  const rows = new Map<string, number>();
  for (const { session, update, unsent } of documents) {
    const last = await lastStateRow(tx, session);
    const wanted = update.byteLength > EMPTY_UPDATE_BYTES && (unsent || last === 0);
    rows.set(session, wanted ? await addStateUpdate(tx, session, update, !unsent) : 0);
  }
  return rows;
}

/** The key in `meta` that stands while what the relay has is not all here again. */
export const RENEWED = "renewed";

async function putOp(tx: Writer<SyncRows>, { landed: _, ...op }: PendingOp): Promise<void> {
  const there = await tx.list("outbox", { by: "op", prefix: [op.opId], limit: 1 });
  if (there.length > 0 || (await stands(tx, op))) return;
  const free = (await tx.get("outbox", [op.session, op.n])) === undefined;
  await tx.put("outbox", free ? op : { ...op, n: await takeNumber(tx) });
}

/** Another tab was faster, and the op is in the confirmed log by now. */
async function stands(tx: Writer<SyncRows>, op: PendingOp): Promise<boolean> {
  const ids = new Set(messagesOf(op).map(({ id }) => id));
  if (ids.size === 0) return false;
  for (const { messages } of await tx.list("runs", { prefix: [op.session] }))
    for (const { id } of messages) ids.delete(id);
  return ids.size === 0;
}

/** A session of which it is known that the relay has it, and nothing else. */
export function unread(id: string, incarnation: string | null, at: string): SessionRow {
  const row = blankSession(id, at);
  if (incarnation === null) return row;
  // More than is held: what is told as arrived must have come from the relay.
  return { ...row, incarnation, fetched: false, remote: { head: row.head, stateCursor: 1 } };
}
