import type { Ack } from "../wire/log.ts";
import { applyMetadata } from "../wire/metadata.ts";
import type { Writer } from "./database.ts";
import { adopt } from "./integrate.ts";
import { KnownOutboxes } from "./known-outboxes.ts";
import { extendLog, settleOp, switchGeneration } from "./land.ts";
import { furtherRead, messagesOf } from "./outbox.ts";
import type { Outcome, Surroundings } from "./outcome.ts";
import {
  blankSession,
  dropSession,
  isCaughtUp,
  putAfterConfirmed,
  putSession,
  type SessionOnDisk,
} from "./session-rows.ts";
import type { DeleteOp, PendingOp, SessionRow, SyncRows } from "./sync-rows.ts";

/**
 * Takes an acknowledgement: the op leaves the outbox and what it did becomes confirmed, in one transaction, so that it
 * is visible at every moment between (C23). An op whose place here cannot be told yet stays until a pull shows it.
 */
export async function confirmOp(
  tx: Writer<SyncRows>,
  ack: Ack,
  outcome: Outcome,
  around: Surroundings,
  known: KnownOutboxes = new KnownOutboxes(),
): Promise<void> {
  const found = (await known.peek(tx, ack.session)) ?? (await lifeAfter(tx, ack, around));
  if (found === undefined) return;
  const unnamed = found.row.incarnation === null;
  const adopted = unnamed ? await adopt(tx, found.row, ack.incarnation) : found.row;
  const op = found.ops.find(({ opId }) => opId === ack.opId);
  if (op?.kind === "delete") return confirmDelete(tx, op, found.ops, outcome, around);
  const row = told(adopted, op, ack);
  if (op === undefined) {
    await tx.delete("rejected", [ack.session, ack.opId]);
    if (!isCaughtUp(await putSession(tx, row))) outcome.pull.add(row.id);
    return;
  }
  if (row.incarnation !== ack.incarnation) {
    // It was done in a life that is over.
    await tx.delete("outbox", [op.session, op.n]);
    outcome.confirmed.push(op);
    await putSession(tx, row);
    return;
  }
  const moved = await moveLog(tx, row, op, ack, around);
  if (moved === undefined) {
    outcome.pull.add(row.id);
    await putSession(tx, row);
    return;
  }
  outcome.confirmed.push(op);
  await settleOp(tx, op);
  // One that was known had its effect before the catalog of this connection was read; others may have come after it.
  const settled = ack.outcome === "known" ? moved : withChanges(moved, op);
  if (unnamed || op !== found.ops[0]) await putSession(tx, settled);
  else await putAfterConfirmed(tx, found.row, settled, op);
}

/**
 * An op that was under way when its session was deleted is set aside with it; where the relay has taken it as the
 * beginning of another life, that life is here too.
 */
async function lifeAfter(
  tx: Writer<SyncRows>,
  ack: Ack,
  around: Surroundings,
): Promise<SessionOnDisk | undefined> {
  const aside = await tx.get("rejected", [ack.session, ack.opId]);
  if (aside === undefined || aside.op.kind === "delete") return undefined;
  return { row: { ...blankSession(ack.session, around.at), fetched: false }, ops: [] };
}

/** The row, with the log as the op made it; undefined when what lies between is not held here. */
async function moveLog(
  tx: Writer<SyncRows>,
  row: SessionRow,
  op: Exclude<PendingOp, DeleteOp>,
  ack: Ack,
  around: Surroundings,
): Promise<SessionRow | undefined> {
  if (op.kind === "edit") return row;
  const { head } = row;
  const past = ack.head.generation < head.generation;
  if (past || (ack.head.generation === head.generation && ack.head.count <= head.count)) return row;
  const rest = messagesOf(op);
  if (op.kind === "replace" && op.landed === undefined) {
    if (ack.head.generation !== head.generation + 1) return undefined;
    const to = { generation: ack.head.generation, keep: op.keep.count, of: op.keep.generation };
    // The relay took it on the head that is held here: so all of the replaced log is.
    const archive = { at: around.at, whole: ack.outcome === "applied" };
    return extendLog(tx, await switchGeneration(tx, row, to, archive), rest);
  }
  const follows = ack.head.generation === head.generation && ack.head.count - rest.length === head.count;
  return follows ? extendLog(tx, row, rest) : undefined;
}

/** What the acknowledgement says of the session beside the log. Only a change made now says where it stands now. */
function told(row: SessionRow, op: PendingOp | undefined, ack: Ack): SessionRow {
  if (ack.outcome !== "applied" || ack.incarnation !== row.incarnation) return row;
  const alone = op?.state !== undefined && ack.stateCursor === row.stateCursor + 1;
  const stateCursor = alone ? ack.stateCursor : row.stateCursor;
  const remote = { head: ack.head, stateCursor: Math.max(row.remote.stateCursor, ack.stateCursor) };
  return { ...row, stateCursor, remote, seq: Math.max(row.seq, ack.seq) };
}

/** What the op changed beside log and state. */
function withChanges(row: SessionRow, op: PendingOp): SessionRow {
  const metadata = op.metadata === undefined ? row.metadata : applyMetadata(row.metadata, op.metadata);
  if (op.kind !== "edit") return { ...row, metadata };
  const read = op.read === undefined ? row.read : furtherRead(row.read, op.read);
  return { ...row, metadata, archived: op.archived ?? row.archived, read };
}

async function confirmDelete(
  tx: Writer<SyncRows>,
  op: PendingOp,
  ops: readonly PendingOp[],
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  for (const done of ops) {
    if (done.n > op.n) continue;
    await tx.delete("outbox", [done.session, done.n]);
    outcome.confirmed.push(done);
  }
  await dropSession(tx, op.session);
  outcome.gone.add(op.session);
  if (ops.some(({ n }) => n > op.n)) await putSession(tx, blankSession(op.session, around.at));
}
