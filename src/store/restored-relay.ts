import type { JsonObject } from "../model/json.ts";
import type { Writer } from "./database.ts";
import { readMessages } from "./log-rows.ts";
import type { Surroundings } from "./outcome.ts";
import { putSession, takeNumber } from "./session-rows.ts";
import type { PendingOp, SessionRow, SyncRows } from "./sync-rows.ts";

type Offer =
  | { readonly kind: "append"; readonly messages: readonly JsonObject[] }
  | { readonly kind: "replace"; readonly onto: number; readonly messages: readonly JsonObject[] };

/**
 * The relay's storage is not the one that this device's cursors came from, or an older copy of it: every session is
 * pulled again once the catalog names it, and none is deleted because of that (rule P7).
 */
export async function recheckAll(tx: Writer<SyncRows>): Promise<void> {
  for (const row of await tx.list("sessions")) {
    if (row.incarnation === null) continue;
    const remote = { head: row.head, stateCursor: 0 };
    await tx.put("sessions", { ...row, seq: 0, stateCursor: 0, remote, recheck: true });
  }
}

/** The same session has another life in the storage that is there now: what is held and waits here goes on in that. */
export async function moveLife(
  tx: Writer<SyncRows>,
  row: SessionRow,
  incarnation: string,
): Promise<SessionRow> {
  for (const op of await tx.list("outbox", { prefix: [row.id] })) {
    if (op.incarnation === row.incarnation) await tx.put("outbox", { ...op, incarnation });
  }
  return putSession(tx, { ...row, incarnation });
}

/** What the relay lost comes first in the outbox, as appends with the ids it had (rule P33). */
export async function offerAgain(
  tx: Writer<SyncRows>,
  row: SessionRow,
  messages: readonly JsonObject[],
  around: Surroundings,
): Promise<void> {
  await offer(tx, row, [{ kind: "append", messages }], around);
}

/**
 * The relay stands at an earlier generation than it had told: each later one that is held here is offered as a whole
 * log, in their order, and the relay's is read from its beginning.
 */
export async function goBack(
  tx: Writer<SyncRows>,
  row: SessionRow,
  generation: number,
  around: Surroundings,
): Promise<SessionRow> {
  const archived = await tx.list("generations", { prefix: [row.id], from: [generation] });
  const offers: Offer[] = [];
  for (const held of [...archived, row.head]) {
    const slice = { generation: held.generation, from: 0, to: held.count };
    const messages = (await readMessages(tx, row.id, slice)).filter((message) => message !== undefined);
    offers.push({ kind: "replace", onto: generation, messages });
  }
  await offer(tx, row, offers, around);
  for (const table of ["runs", "generations"] as const)
    await tx.deleteRange(table, { prefix: [row.id], from: [generation] });
  return { ...row, head: { generation, count: 0, lastId: null }, preview: "" };
}

async function offer(
  tx: Writer<SyncRows>,
  row: SessionRow,
  offers: readonly Offer[],
  around: Surroundings,
): Promise<void> {
  const { incarnation, id: session } = row;
  const [first] = await tx.list("outbox", { prefix: [session], limit: 1 });
  for (const [index, offered] of offers.entries()) {
    const n = first === undefined ? await takeNumber(tx) : first.n - offers.length + index;
    const named = { session, n, opId: around.newId(), incarnation, at: around.at };
    const { messages } = offered;
    const op: PendingOp =
      offered.kind === "append"
        ? { kind: "append", ...named, messages, expected: null }
        : {
            kind: "replace",
            ...named,
            messages,
            expected: null,
            keep: { generation: offered.onto, count: 0 },
            keepLastId: null,
          };
    await tx.put("outbox", op);
  }
}
