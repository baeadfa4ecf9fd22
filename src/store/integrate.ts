import { decodeBase64 } from "../model/base64.ts";
import { ProtocolError } from "../model/errors.ts";
import { type Head, headEquals } from "../model/revision.ts";
import type { CatalogEntry, Push } from "../wire/catalog.ts";
import type { Page } from "../wire/log.ts";
import type { Writer } from "./database.ts";
import { addStateUpdate, archiveLog, type Landing, type LogPiece, landPiece } from "./land.ts";
import { type Outcome, rejectOp, type Surroundings } from "./outcome.ts";
import { goBack, moveLife, offerAgain } from "./restored-relay.ts";
import {
  blankSession,
  countSession,
  dropSession,
  findSession,
  isCaughtUp,
  putSession,
  type SessionOnDisk,
} from "./session-rows.ts";
import { setAsideState } from "./state-aside.ts";
import type { SessionRow, SyncRows } from "./sync-rows.ts";

/** Takes a catalog entry: what exists, what is gone, where each session stands (rules P40–P43). */
export async function integrateEntry(
  tx: Writer<SyncRows>,
  entry: CatalogEntry,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  let found = await findSession(tx, entry.session);
  if (found !== undefined && found.row.incarnation !== null && found.row.incarnation !== entry.incarnation) {
    if (found.row.recheck !== true) await endLife(tx, found, outcome, around);
    else if (!entry.deleted) await moveLife(tx, found.row, entry.incarnation);
    found = await findSession(tx, entry.session);
  }
  if (found !== undefined && entry.seq < found.row.seq) return;
  if (entry.deleted) {
    if (found?.row.incarnation === entry.incarnation) await endLife(tx, found, outcome, around);
    return;
  }
  const row =
    found === undefined ? { ...blankSession(entry.session, entry.updatedAt), fetched: false } : found.row;
  const adopted = row.incarnation === null ? await adopt(tx, row, entry.incarnation) : row;
  const stored = await putSession(tx, {
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
  around: Surroundings & { readonly channelCovers: boolean; readonly follows: boolean },
): Promise<void> {
  const { entry, append, state } = push;
  if (around.follows) await archiveReplaced(tx, entry);
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
    ({ row } = await landTold(tx, found, piece, outcome, around));
  }
  if (around.channelCovers) row = { ...row, stateCursor: Math.max(row.stateCursor, entry.stateCursor) };
  else if (state !== undefined && state.after <= row.stateCursor && entry.stateCursor > row.stateCursor) {
    await addUpdates(tx, row.id, state.updates);
    row = { ...row, stateCursor: entry.stateCursor };
  }
  const stored = await putSession(tx, row);
  if (isCaughtUp(stored)) outcome.pull.delete(entry.session);
}

/** Nothing happened between what is held and this replace: what is held is all of the replaced log. */
async function archiveReplaced(tx: Writer<SyncRows>, entry: CatalogEntry): Promise<void> {
  const row = (await findSession(tx, entry.session))?.row;
  if (row === undefined || row.incarnation !== entry.incarnation || !headEquals(row.head, row.remote.head))
    return;
  if (entry.head.generation === row.head.generation + 1)
    await archiveLog(tx, row, { at: entry.updatedAt, whole: true });
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
  let adopted = found.row.incarnation === null ? await adopt(tx, found.row, page.incarnation) : found.row;
  // Only a relay that was restored from an older backup tells less than what it was told is held.
  if (have !== null && page.generation < have.generation && have.generation === adopted.head.generation)
    adopted = await goBack(tx, adopted, page.generation, around);
  const breaks = have !== null && have.generation === page.generation && page.start < have.count;
  const piece = { generation: page.generation, start: page.start, messages: page.messages, breaks };
  let { row } = await landTold(tx, { ...found, row: adopted }, piece, outcome, around);
  await addUpdates(tx, row.id, page.state);
  row = {
    ...row,
    remote: {
      head: page.head,
      stateCursor: Math.max(page.stateCursor, page.more ? row.remote.stateCursor : 0),
    },
  };
  // Updates of this page are held: the next one goes on from there.
  row = { ...row, stateCursor: page.stateCursor, ...(page.more ? {} : { recheck: undefined }) };
  // The first pages of another generation are no view of it.
  if (page.more && page.generation !== found.row.head.generation) row = { ...row, fetched: false };
  const stored = await putSession(tx, row);
  if (!isCaughtUp(stored)) outcome.pull.add(page.session);
  else outcome.pull.delete(page.session);
}

/** Takes on the life that the relay has named for a session created here. */
export async function adopt(tx: Writer<SyncRows>, row: SessionRow, incarnation: string): Promise<SessionRow> {
  for (const op of await tx.list("outbox", { prefix: [row.id] })) {
    if (op.incarnation === null) await tx.put("outbox", { ...op, incarnation });
    // What follows a delete is for the next life.
    if (op.kind === "delete") break;
  }
  await countSession(tx, 1);
  return { ...row, incarnation };
}

/** Lets a piece land, and notes what it settled, what it lacks, and what it took away. */
export async function landTold(
  tx: Writer<SyncRows>,
  { row, ops }: SessionOnDisk,
  piece: LogPiece,
  outcome: Outcome,
  around: Surroundings,
): Promise<Landing> {
  const landing = await landPiece(tx, row, ops, piece, around.at);
  outcome.confirmed.push(...landing.confirmed);
  if (landing.gap) outcome.pull.add(row.id);
  if (landing.displaced.length > 0) await offerAgain(tx, landing.row, landing.displaced, around);
  return landing;
}

/** A session's life is over: its ops are set aside, and what was held of it goes. Ops for a next life stay. */
async function endLife(
  tx: Writer<SyncRows>,
  { row, ops }: SessionOnDisk,
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  const ended = ops.findIndex(({ kind }) => kind === "delete");
  const why = { reason: "deleted", message: "The session was deleted" };
  for (const [index, op] of ops.entries()) {
    if (op.incarnation !== row.incarnation) continue;
    if (ended >= 0 && index === ended) {
      await tx.delete("outbox", [op.session, op.n]);
      outcome.confirmed.push(op);
    } else await rejectOp(tx, op, why, outcome, around);
  }
  // Whoever deletes it means its state, too.
  if (ended < 0) await setAsideState(tx, row, why, outcome, around);
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
