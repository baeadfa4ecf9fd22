import { headEquals } from "../model/revision.ts";
import { FAULTS } from "../wire/fault.ts";
import type { Refusal } from "../wire/log.ts";
import type { Writer } from "./database.ts";
import { adopt, landTold } from "./integrate.ts";
import { diverged, headAfter } from "./outbox.ts";
import { type Outcome, rejectOp, type Surroundings } from "./outcome.ts";
import { findSession, putSession } from "./session-rows.ts";
import type { PendingOp, SyncRows } from "./sync-rows.ts";

/** Takes a refusal: an op that can never be accepted is set aside with its reason, another is kept (H10, C16, C27). */
export async function integrateRefusal(
  tx: Writer<SyncRows>,
  refusal: Refusal,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  // Those behind the first of a burst are refused with it, and tell nothing new.
  if (refusal.code === "conflict" && refusal.tail === undefined && outcome.contended.has(refusal.session)) {
    outcome.refused.add(refusal.opId);
    return;
  }
  const found = await findSession(tx, refusal.session);
  const op = found?.ops.find(({ opId }) => opId === refusal.opId);
  if (found === undefined || op === undefined) return;
  const { remedy } = FAULTS[refusal.code];
  if (remedy === "retry" || remedy === "reauthenticate") return;
  if (refusal.code !== "conflict") {
    await rejectOp(tx, op, { reason: refusal.code, message: refusal.message }, outcome, around);
    await putSession(tx, found.row);
    return;
  }
  let { row } = found;
  if (refusal.actual !== undefined) {
    if (row.incarnation === null) row = await adopt(tx, row, refusal.actual.incarnation);
    const { head } = refusal.actual;
    row = { ...row, remote: { ...row.remote, head } };
    if (refusal.tail !== undefined && head.generation === row.head.generation) {
      const start = head.count - refusal.tail.length;
      const piece = { generation: head.generation, start, messages: refusal.tail, breaks: false };
      const ops = await tx.list("outbox", { prefix: [row.id] });
      ({ row } = await landTold(tx, { row, ops }, piece, outcome, around));
    }
  }
  const stored = await putSession(tx, row);
  outcome.refused.add(op.opId);
  outcome.contended.add(row.id);
  if (!headEquals(stored.head, stored.remote.head)) outcome.pull.add(row.id);
}

/**
 * Decides, once the session has caught up, what becomes of ops that were refused because the head had moved. One whose
 * expectation still follows from what is confirmed was only in bad company and is sent again as it is.
 */
export async function judgeRefused(
  tx: Writer<SyncRows>,
  session: string,
  refused: ReadonlySet<string>,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  const found = await findSession(tx, session);
  if (found === undefined) return;
  let head = found.row.head;
  for (const op of found.ops) {
    const expected = op.kind === "edit" || op.kind === "delete" ? null : op.expected;
    let standing: PendingOp | undefined = op;
    if (refused.has(op.opId) && expected !== null && !headEquals(expected, head)) {
      if (op.kind === "checkpoint") {
        standing = diverged(op, around.newId());
        await tx.put("outbox", standing);
      } else {
        standing = undefined;
        const message = "Session changed while it was being updated";
        await rejectOp(tx, op, { reason: "conflict", message, actual: head }, outcome, around);
      }
    }
    if (standing !== undefined) head = headAfter(head, standing);
  }
  await putSession(tx, found.row);
}
