import type { JsonObject } from "../model/json.ts";
import type { LoggedMessage } from "../wire/shapes.ts";
import type { Reader, Writer } from "./database.ts";
import { appendMessages, copyPrefix, readMessages, truncateLog } from "./log-rows.ts";
import { preview } from "./preview.ts";
import type { PendingOp, SessionRow, SyncRows } from "./sync-rows.ts";

/** A piece of a session's log as the relay tells it: in a page, a push or a conflict's tail. */
export interface LogPiece {
  readonly generation: number;
  readonly start: number;
  readonly messages: readonly LoggedMessage[];
  /** The relay says that what was held from `start` on is not its log (rules P31, P33). Only an answer to a pull can. */
  readonly breaks: boolean;
}

/** What became of a piece: the row to store, the ops it settled, and what had to make way. */
export interface Landing {
  readonly row: SessionRow;
  readonly confirmed: readonly PendingOp[];
  /** The piece does not continue what is held: a pull is due. */
  readonly gap: boolean;
  /** Confirmed messages that the relay's log, at the same generation, does not have (rules P31, P33). */
  readonly displaced: readonly JsonObject[];
}

/**
 * Lets a piece of the relay's log become confirmed here: what is held already is recognised by its ids, own ops by
 * their op ids, a new generation archives the one before.
 */
export async function landPiece(
  tx: Writer<SyncRows>,
  row: SessionRow,
  ops: readonly PendingOp[],
  piece: LogPiece,
  at: string,
): Promise<Landing> {
  const nothing = { row, confirmed: [], displaced: [] };
  if (piece.generation < row.head.generation) return { ...nothing, gap: false };
  if (piece.start > row.head.count) return { ...nothing, gap: true };
  if (piece.generation > row.head.generation) {
    const to = { generation: piece.generation, keep: piece.start };
    const switched = await switchGeneration(tx, row, to, { at, whole: false });
    return { ...(await landNew(tx, switched, ops, piece.messages)), gap: false, displaced: [] };
  }
  const held = await readMessages(tx, row.id, {
    generation: row.head.generation,
    from: piece.start,
    to: row.head.count,
  });
  const same = commonIds(held, piece.messages);
  const fresh = piece.messages.slice(same);
  if (same < Math.min(held.length, piece.messages.length) && !piece.breaks) return { ...nothing, gap: true };
  if (!piece.breaks || same === held.length) {
    return { ...(await landNew(tx, row, ops, fresh)), gap: false, displaced: [] };
  }
  const count = piece.start + same;
  await truncateLog(tx, row.id, { generation: row.head.generation, count });
  const cut = await withHead(tx, row, { generation: row.head.generation, count });
  return {
    ...(await landNew(tx, cut, ops, fresh)),
    gap: false,
    displaced: held.slice(same).filter((message) => message !== undefined),
  };
}

/** Begins a new generation here, with the first messages of the present one; that stays readable as an archive. */
export async function switchGeneration(
  tx: Writer<SyncRows>,
  row: SessionRow,
  to: { readonly generation: number; readonly keep: number; readonly of?: number },
  archive: { readonly at: string; readonly whole: boolean },
): Promise<SessionRow> {
  const { generation } = row.head;
  if ((await tx.get("generations", [row.id, generation])) === undefined) await archiveLog(tx, row, archive);
  await copyPrefix(tx, row.id, { from: to.of ?? generation, to: to.generation, count: to.keep });
  return withHead(tx, row, { generation: to.generation, count: to.keep });
}

/** Notes that the present generation has been replaced, as far as it is held. */
export async function archiveLog(
  tx: Writer<SyncRows>,
  { id, head }: SessionRow,
  { at, whole }: { readonly at: string; readonly whole: boolean },
): Promise<void> {
  const { generation, count } = head;
  await tx.put("generations", { session: id, generation, count, whole, replacedAt: at });
}

/** Adds messages at the end of the confirmed log. */
export async function extendLog(
  tx: Writer<SyncRows>,
  row: SessionRow,
  messages: readonly JsonObject[],
): Promise<SessionRow> {
  const last = messages.at(-1);
  if (last === undefined) return row;
  const { generation, count } = row.head;
  await appendMessages(tx, row.id, { generation, count }, messages);
  await dropRescued(tx, row.id, messages);
  const head = { generation, count: count + messages.length, lastId: String(last.id) };
  return { ...row, head, preview: preview(last) };
}

/**
 * The op is the relay's now: out of the outbox, with its state, which may come twice. The log is the caller's to move,
 * and metadata the catalog's to tell: what the op made of it may have been changed since.
 */
export async function settleOp(tx: Writer<SyncRows>, op: PendingOp): Promise<void> {
  await tx.delete("outbox", [op.session, op.n]);
  if (op.state !== undefined) await addStateUpdate(tx, op.session, op.state.update, true);
}

/** Stores one update of a session's document and tells its number. */
export async function addStateUpdate(
  tx: Writer<SyncRows>,
  session: string,
  update: Uint8Array,
  durable: boolean,
): Promise<number> {
  const n = (await lastStateRow(tx, session)) + 1;
  await tx.put("state", { session, n, update, unsent: durable ? 0 : 1 });
  return n;
}

/** The number of the last stored update of a session's document; 0 when there is none. */
export async function lastStateRow(tx: Reader<SyncRows>, session: string): Promise<number> {
  return (await tx.list("state", { prefix: [session], reverse: true, limit: 1 }))[0]?.n ?? 0;
}

/** What was rejected and then brought into the log by another op (a checkpoint that held it) is rejected no more. */
async function dropRescued(
  tx: Writer<SyncRows>,
  session: string,
  messages: readonly JsonObject[],
): Promise<void> {
  const rejected = await tx.list("rejected", { prefix: [session] });
  if (rejected.length === 0) return;
  const landed = new Set(messages.map(({ id }) => id));
  for (const row of rejected) {
    const left = row.messages.filter(({ id }) => !landed.has(id ?? ""));
    if (left.length === row.messages.length) continue;
    if (left.length === 0) await tx.delete("rejected", [session, row.opId]);
    else await tx.put("rejected", { ...row, messages: left });
  }
}

async function landNew(
  tx: Writer<SyncRows>,
  row: SessionRow,
  ops: readonly PendingOp[],
  logged: readonly LoggedMessage[],
): Promise<{ row: SessionRow; confirmed: readonly PendingOp[] }> {
  const next = await extendLog(
    tx,
    row,
    logged.map(({ message }) => message as JsonObject),
  );
  const landed = new Map<string, number>();
  for (const { opId } of logged) landed.set(opId, (landed.get(opId) ?? 0) + 1);
  const confirmed: PendingOp[] = [];
  for (const op of ops) {
    const now = landed.get(op.opId);
    if (now === undefined || op.kind === "edit" || op.kind === "delete") continue;
    const total = (op.landed ?? 0) + now;
    if (total < op.messages.length) await tx.put("outbox", { ...op, landed: total });
    else {
      await settleOp(tx, op);
      confirmed.push(op);
    }
  }
  return { row: next, confirmed };
}

/** The row with its confirmed log ending there. */
export async function withHead(
  tx: Writer<SyncRows>,
  row: SessionRow,
  { generation, count }: { readonly generation: number; readonly count: number },
): Promise<SessionRow> {
  const last =
    count === 0 ? undefined : (await readMessages(tx, row.id, { generation, from: count - 1, to: count }))[0];
  const head = { generation, count, lastId: last === undefined ? null : String(last.id) };
  return { ...row, head, preview: last === undefined ? "" : preview(last) };
}

function commonIds(held: readonly (JsonObject | undefined)[], told: readonly LoggedMessage[]): number {
  let same = 0;
  while (same < held.length && same < told.length && held[same]?.id === told[same]?.message.id) same += 1;
  return same;
}
