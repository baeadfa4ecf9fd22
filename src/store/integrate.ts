import { decodeBase64 } from "../model/base64.ts";
import { ProtocolError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { type Head, headEquals } from "../model/revision.ts";
import type { CatalogEntry, Push } from "../wire/catalog.ts";
import { FAULTS } from "../wire/fault.ts";
import type { Page, Refusal } from "../wire/log.ts";
import type { Writer } from "./database.ts";
import { addStateUpdate, type Landing, type LogPiece, landPiece } from "./land.ts";
import { diverged, headAfter } from "./outbox.ts";
import {
  blankSession,
  dropSession,
  findSession,
  putSession,
  type SessionOnDisk,
  takeNumber,
} from "./session-rows.ts";
import type { PendingOp, SessionRow, SyncRows } from "./sync-rows.ts";

/** What happened in one transaction that others wait for. Collected while it runs, told after it committed. */
export interface Outcome {
  readonly confirmed: PendingOp[];
  readonly rejected: {
    readonly op: PendingOp;
    readonly reason: string;
    readonly message: string;
    readonly actual?: Head;
  }[];
  /** Ops refused because the head had moved: to be judged once their session has caught up. */
  readonly refused: Set<string>;
  /** Sessions whose log or state here does not continue what the relay has: a pull is due. */
  readonly pull: Set<string>;
  /** Sessions that no longer exist. */
  readonly gone: Set<string>;
}

export function newOutcome(): Outcome {
  return { confirmed: [], rejected: [], refused: new Set(), pull: new Set(), gone: new Set() };
}

/** What integration needs from outside the transaction. */
export interface Surroundings {
  readonly at: string;
  readonly newId: () => string;
}

/** Whether all that the catalog told of this session is held here. */
export function isCaughtUp(row: SessionRow): boolean {
  return headEquals(row.head, row.remote.head) && row.stateCursor >= row.remote.stateCursor;
}

/** Takes a catalog entry: what exists, what is gone, where each session stands (rules P40–P43). */
export async function integrateEntry(
  tx: Writer<SyncRows>,
  entry: CatalogEntry,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  let found = await findSession(tx, entry.session);
  if (found !== undefined && found.row.incarnation !== null && found.row.incarnation !== entry.incarnation) {
    await endLife(tx, found, outcome, around);
    found = await findSession(tx, entry.session);
  }
  if (found !== undefined && entry.seq < found.row.seq) return;
  if (entry.deleted) {
    if (found?.row.incarnation === entry.incarnation) await endLife(tx, found, outcome, around);
    return;
  }
  const row = found === undefined ? blankSession(entry.session, entry.updatedAt) : found.row;
  const adopted = row.incarnation === null ? await adopt(tx, row, entry.incarnation) : row;
  const { row: stored } = await putSession(tx, {
    ...adopted,
    metadata: entry.metadata,
    archived: entry.archived,
    read: entry.read,
    updatedAt: entry.updatedAt,
    seq: entry.seq,
    remote: { head: entry.head, stateCursor: entry.stateCursor },
  });
  if (!isCaughtUp(stored)) outcome.pull.add(entry.session);
}

/** Takes a push: its entry, and what it carries where that continues what is held. */
export async function integratePush(
  tx: Writer<SyncRows>,
  push: Push,
  outcome: Outcome,
  around: Surroundings & { readonly channelCovers: boolean },
): Promise<void> {
  const { entry, append, state } = push;
  await integrateEntry(tx, entry, outcome, around);
  const found = await findSession(tx, entry.session);
  if (found === undefined || found.row.incarnation !== entry.incarnation) return;
  let { row } = found;
  if (append !== undefined && entry.head.generation === row.head.generation) {
    const piece = {
      generation: entry.head.generation,
      start: append.start,
      messages: append.messages,
      breaks: false,
    };
    ({ row } = await land(tx, found, piece, outcome, around));
  }
  if (around.channelCovers) row = { ...row, stateCursor: Math.max(row.stateCursor, entry.stateCursor) };
  else if (state !== undefined && state.after <= row.stateCursor && entry.stateCursor > row.stateCursor) {
    await addUpdates(tx, row.id, state.updates);
    row = { ...row, stateCursor: entry.stateCursor };
  }
  const stored = await putSession(tx, row);
  if (isCaughtUp(stored.row)) outcome.pull.delete(entry.session);
}

/** Takes the answer to a pull that said `have` (rules P30–P35). */
export async function integratePage(
  tx: Writer<SyncRows>,
  page: Page,
  have: Head | null,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  const found = await findSession(tx, page.session);
  if (found === undefined || (found.row.incarnation ?? page.incarnation) !== page.incarnation) return;
  const adopted = found.row.incarnation === null ? await adopt(tx, found.row, page.incarnation) : found.row;
  const breaks = have !== null && have.generation === page.generation && page.start < have.count;
  const piece = { generation: page.generation, start: page.start, messages: page.messages, breaks };
  let { row } = await land(tx, { ...found, row: adopted }, piece, outcome, around);
  await addUpdates(tx, row.id, page.state);
  row = {
    ...row,
    remote: {
      head: page.head,
      stateCursor: Math.max(page.stateCursor, page.more ? row.remote.stateCursor : 0),
    },
  };
  if (!page.more) row = { ...row, stateCursor: page.stateCursor };
  const stored = await putSession(tx, row);
  if (!isCaughtUp(stored.row)) outcome.pull.add(page.session);
  else outcome.pull.delete(page.session);
}

/** Takes a refusal: an op that can never be accepted is set aside with its reason, another is kept (H10, C16, C27). */
export async function integrateRefusal(
  tx: Writer<SyncRows>,
  refusal: Refusal,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
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
      ({ row } = await land(tx, { row, ops }, piece, outcome, around));
    }
  }
  const stored = await putSession(tx, row);
  outcome.refused.add(op.opId);
  if (!headEquals(stored.row.head, stored.row.remote.head)) outcome.pull.add(row.id);
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

/** Sets an op aside: out of the outbox, kept with its reason until somebody retries or discards it. */
export async function rejectOp(
  tx: Writer<SyncRows>,
  op: PendingOp,
  why: { readonly reason: string; readonly message: string; readonly actual?: Head },
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  await tx.delete("outbox", [op.session, op.n]);
  const { reason, message, actual } = why;
  // A part that landed is confirmed; only the rest is set aside.
  await tx.put("rejected", {
    opId: op.opId,
    session: op.session,
    reason,
    message,
    at: around.at,
    actual,
    op,
  });
  outcome.rejected.push({ op, ...why });
}

/** Takes on the life that the relay has named for a session created here. */
export async function adopt(tx: Writer<SyncRows>, row: SessionRow, incarnation: string): Promise<SessionRow> {
  for (const op of await tx.list("outbox", { prefix: [row.id] })) {
    if (op.incarnation === null) await tx.put("outbox", { ...op, incarnation });
    // What follows a delete is for the next life.
    if (op.kind === "delete") break;
  }
  return { ...row, incarnation };
}

async function land(
  tx: Writer<SyncRows>,
  { row, ops }: SessionOnDisk,
  piece: LogPiece,
  outcome: Outcome,
  around: Surroundings,
): Promise<Landing> {
  const landing = await landPiece(tx, row, ops, piece, around.at);
  outcome.confirmed.push(...landing.confirmed);
  if (landing.gap) outcome.pull.add(row.id);
  if (landing.displaced.length > 0) await offerAgain(tx, landing.row, ops, landing.displaced, around);
  return landing;
}

/** What the relay lost comes first in the outbox, as an append with the ids it had (rule P33). */
async function offerAgain(
  tx: Writer<SyncRows>,
  row: SessionRow,
  ops: readonly PendingOp[],
  messages: readonly JsonObject[],
  around: Surroundings,
): Promise<void> {
  const first = ops[0]?.n;
  const n = first === undefined ? await takeNumber(tx) : first - 1;
  const { incarnation, id: session } = row;
  const opId = around.newId();
  await tx.put("outbox", {
    kind: "append",
    session,
    n,
    opId,
    incarnation,
    at: around.at,
    messages,
    expected: null,
  });
}

/** A session's life is over: its ops are set aside, and what was held of it goes. Ops for a next life stay. */
async function endLife(
  tx: Writer<SyncRows>,
  { row, ops }: SessionOnDisk,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  const ended = ops.findIndex(({ kind }) => kind === "delete");
  const message = "The session was deleted";
  for (const [index, op] of ops.entries()) {
    if (op.incarnation !== row.incarnation) continue;
    if (ended >= 0 && index === ended) {
      await tx.delete("outbox", [op.session, op.n]);
      outcome.confirmed.push(op);
    } else await rejectOp(tx, op, { reason: "deleted", message }, outcome, around);
  }
  await dropSession(tx, row.id);
  outcome.gone.add(row.id);
  const rest = await tx.list("outbox", { prefix: [row.id] });
  if (rest.length > 0) await putSession(tx, blankSession(row.id, around.at));
}

async function addUpdates(tx: Writer<SyncRows>, session: string, updates: readonly string[]): Promise<void> {
  for (const update of updates) {
    const bytes = decodeBase64(update);
    if (bytes === undefined) throw new ProtocolError("The relay sent a state update that is not base64");
    await addStateUpdate(tx, session, bytes, true);
  }
}
