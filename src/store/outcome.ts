import type { Head } from "../model/revision.ts";
import type { Writer } from "./database.ts";
import { broughtBy } from "./outbox.ts";
import type { PendingOp, SyncRows } from "./sync-rows.ts";

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
  /** The sessions of those. */
  readonly contended: Set<string>;
  /** Sessions whose log or state here does not continue what the relay has: a pull is due. */
  readonly pull: Set<string>;
  /** Sessions that no longer exist. */
  readonly gone: Set<string>;
}

export function newOutcome(): Outcome {
  return {
    confirmed: [],
    rejected: [],
    refused: new Set(),
    contended: new Set(),
    pull: new Set(),
    gone: new Set(),
  };
}

/** What integration needs from outside the transaction. */
export interface Surroundings {
  readonly at: string;
  readonly newId: () => string;
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
  // How far somebody had read in what is gone is nothing to decide about.
  const moot =
    reason === "deleted" && op.kind === "edit" && op.metadata === undefined && op.archived === undefined;
  if (moot && op.read !== undefined) return;
  // A part that landed is confirmed; only the rest is set aside.
  await tx.put("rejected", {
    opId: op.opId,
    session: op.session,
    reason,
    message,
    at: around.at,
    actual,
    op,
    messages: broughtBy(op),
  });
  outcome.rejected.push({ op, ...why });
}
