import { applyUpdate, Doc } from "yjs";
import type { Writer } from "./database.ts";
import { type Outcome, rejectOp, type Surroundings } from "./outcome.ts";
import { takeNumber } from "./session-rows.ts";
import { applyChanges, clientNumber, diffState, readState } from "./state-document.ts";
import type { OpState, SessionRow, SyncRows } from "./sync-rows.ts";

/**
 * What the relay had not acknowledged of the state of a session that was deleted is set aside as an op that would make it
 * anew, in whatever life there is then.
 */
export async function setAsideState(
  tx: Writer<SyncRows>,
  { id: session, incarnation }: SessionRow,
  why: { readonly reason: string; readonly message: string },
  outcome: Outcome,
  around: Surroundings,
): Promise<void> {
  const rows = await tx.list("state", { prefix: [session] });
  const unsent = rows.filter((row) => row.unsent === 1);
  if (unsent.length === 0) return;
  const doc = new Doc();
  for (const row of rows) if (row.unsent === 0) applyUpdate(doc, row.update);
  const before = readState(doc);
  for (const row of unsent) applyUpdate(doc, row.update);
  const leaves = diffState(before, readState(doc));
  doc.destroy();
  const state = stateAnew(leaves, around.newId());
  // Where things were only removed: they are gone.
  if (state === undefined) return;
  const named = { session, n: await takeNumber(tx), opId: around.newId(), incarnation, at: around.at };
  const op = { kind: "append", ...named, messages: [], expected: null, state } as const;
  await rejectOp(tx, op, why, outcome, around);
}

/** The changes as they are made on an empty state: an update that rests on nothing. Undefined when they only remove. */
export function stateAnew(leaves: OpState["leaves"], id: string): OpState | undefined {
  const doc = new Doc();
  doc.clientID = clientNumber(id);
  const update = applyChanges(doc, leaves);
  doc.destroy();
  return update === undefined ? undefined : { update, leaves };
}
