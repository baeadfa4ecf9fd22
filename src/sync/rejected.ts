import { type InvalidInputError, invalidInput } from "../model/errors.ts";
import { nameOf } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { EMPTY_REVISION } from "../model/revision.ts";
import type { LocalDatabase } from "../store/database.ts";
import { type Draft, enqueue } from "../store/enqueue.ts";
import { SESSION_TABLES, type SessionOnDisk } from "../store/session-rows.ts";
import { stateAnew } from "../store/state-aside.ts";
import { parseLog } from "../store/stored-log.ts";
import type { PendingOp, RejectedRow, SyncRows } from "../store/sync-rows.ts";

/** What the relay can never accept, kept until somebody decides. */
export interface RejectedOp {
  readonly opId: string;
  readonly sessionId: string;
  readonly kind: PendingOp["kind"];
  /** The code of the fault: `conflict`, `too-large`, `deleted`… */
  readonly reason: string;
  /** What was to be added; nothing of it is lost. */
  readonly messages: readonly Message[];
  /** ISO time of the refusal. */
  readonly at: string;
}

/** The ops that were set aside: to be looked at, sent again, or thrown away. */
export class Rejected {
  readonly #db: LocalDatabase<SyncRows>;
  readonly #made: () => { readonly opId: string; readonly at: string };

  constructor(db: LocalDatabase<SyncRows>, made: () => { readonly opId: string; readonly at: string }) {
    this.#db = db;
    this.#made = made;
  }

  /** In the order they were refused. */
  async list(): Promise<readonly RejectedOp[]> {
    const rows = await this.#db.read(["rejected"], (tx) => tx.list("rejected"));
    rows.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.op.n - b.op.n));
    return rows.map(({ opId, session, reason, at, op, messages }) => ({
      opId,
      sessionId: session,
      kind: op.kind,
      reason,
      messages: parseLog(messages, 0).messages,
      at,
    }));
  }

  /** Puts it at the end of the outbox again, as a new op that stands wherever the log ends. */
  async retry(opId: string): Promise<void> {
    const { session } = await this.#find(opId);
    await this.#db.write(SESSION_TABLES, async (tx) => {
      const row = await tx.get("rejected", [session, opId]);
      if (row === undefined) throw noSuchOp(opId);
      await tx.delete("rejected", [session, opId]);
      const made = this.#made();
      await enqueue(tx, session, async (found) => again(row, found, made.opId), made);
    });
  }

  /** Throws it away for good. */
  async discard(opId: string): Promise<void> {
    const row = await this.#find(opId);
    await this.#db.write(["rejected"], (tx) => tx.delete("rejected", [row.session, opId]));
  }

  async #find(opId: string): Promise<RejectedRow> {
    const rows = await this.#db.read(["rejected"], (tx) => tx.list("rejected"));
    const row = rows.find((one) => one.opId === opId);
    if (row === undefined) throw noSuchOp(opId);
    return row;
  }
}

function again({ op, messages }: RejectedRow, { row }: SessionOnDisk, opId: string): Draft {
  // Its update rests on the state of the life it was made for; in another one that never comes.
  const state =
    op.state === undefined || op.incarnation === row.incarnation
      ? op.state
      : stateAnew(op.state.leaves, opId);
  const beside = { state, metadata: op.metadata };
  switch (op.kind) {
    case "append":
    case "checkpoint":
      return { kind: "append", messages, expected: null, ...beside };
    case "replace": {
      // What it kept belongs to the life it was made for; in another one there is nothing to keep.
      const kept = op.incarnation === row.incarnation ? op : { keep: EMPTY_REVISION, keepLastId: null };
      const { keep, keepLastId } = kept;
      return {
        kind: "replace",
        keep,
        keepLastId,
        messages: op.messages,
        held: op.held,
        expected: null,
        ...beside,
      };
    }
    case "edit":
      return { kind: "edit", archived: op.archived, read: op.read, ...beside };
    case "delete":
      return { kind: "delete" };
  }
}

function noSuchOp(opId: string): InvalidInputError {
  const name: unknown = opId;
  return invalidInput(
    "opId",
    typeof name === "string"
      ? `must name a rejected op: there is no ${JSON.stringify(name)}`
      : `must be text, not ${nameOf(name)}`,
  );
}
