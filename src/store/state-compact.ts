import { applyUpdate, Doc, encodeStateAsUpdate } from "yjs";
import type { LocalDatabase } from "./database.ts";
import type { SyncRows } from "./sync-rows.ts";

/** So many durable rows of one document are made one when it is opened. */
const COMPACT_FROM = 64;

/** Many durable rows become one with the same content; rows that the relay has not stay as they are. */
export async function compactState(db: LocalDatabase<SyncRows>, session: string): Promise<void> {
  const rows = await db.read(["state"], (tx) => tx.list("state", { prefix: [session] }));
  const durable = rows.filter(({ unsent }) => unsent === 0);
  const last = durable.at(-1);
  if (durable.length < COMPACT_FROM || last === undefined) return;
  const doc = new Doc();
  for (const { update } of durable) applyUpdate(doc, update);
  const update = encodeStateAsUpdate(doc);
  doc.destroy();
  await db.write(["state"], async (tx) => {
    for (const { n } of durable) await tx.delete("state", [session, n]);
    await tx.put("state", { session, n: last.n, update, unsent: 0 });
  });
}
