import type { JsonObject } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import type { Reader } from "./database.ts";
import { KnownOutboxes } from "./known-outboxes.ts";
import type { Delivery, MessageEntry, Window } from "./live-store.ts";
import { readMessages } from "./log-rows.ts";
import { layeredLog } from "./outbox.ts";
import { parseLog } from "./stored-log.ts";
import type { SyncRows } from "./sync-rows.ts";

/**
 * The last `count` messages of the view, and behind them those that were rejected. Reads the rows they stand in and
 * no others, however long the log is.
 */
export async function readWindow(
  tx: Reader<SyncRows>,
  session: string,
  count: number,
  known: KnownOutboxes = new KnownOutboxes(),
): Promise<Window> {
  const found = await known.read(tx, session);
  const refused = (await tx.list("rejected", { prefix: [session] }))
    .sort((a, b) => a.op.n - b.op.n)
    .flatMap(({ messages }) => messages);
  if (found === undefined || found.row.view.deleted) {
    return { entries: entriesOf(refused, 0, "rejected"), hasEarlier: false, total: 0, damaged: false };
  }
  const log = layeredLog(found.row.head, found.ops);
  // A checkpoint on its way may hold what was refused alone: it is seen once, as what it is about to be.
  const onTheirWay = new Set(log.carried.map(({ id }) => id));
  const rejected = refused.filter(({ id }) => !onTheirWay.has(id ?? ""));
  const carried = log.carried.slice(-count);
  const from = Math.max(0, log.keep.count - Math.max(0, count - carried.length));
  const slice = { generation: log.keep.generation, from, to: log.keep.count };
  const confirmed = parseLog(await readMessages(tx, session, slice), from);
  const pendingFrom = log.keep.count + log.carried.length - carried.length;
  // An op whose answer was lost may stand in the log by another op, which kept its messages: they are seen once.
  const standing = new Set<unknown>(confirmed.messages.map(({ id }) => id));
  const waiting = carried.filter(({ id }) => !standing.has(id));
  const entries = [
    ...shown(confirmed.messages, "confirmed"),
    ...entriesOf(waiting, pendingFrom, "pending"),
    ...entriesOf(rejected, 0, "rejected"),
  ];
  return {
    entries,
    hasEarlier: from > 0 || carried.length < log.carried.length,
    total: log.keep.count + log.carried.length,
    damaged: confirmed.damaged.length > 0,
  };
}

function entriesOf(
  stored: readonly (JsonObject | undefined)[],
  from: number,
  delivery: Delivery,
): MessageEntry[] {
  return shown(parseLog(stored, from).messages, delivery);
}

function shown(messages: readonly Message[], delivery: Delivery): MessageEntry[] {
  return messages.map((message) => Object.freeze({ message, delivery }));
}
