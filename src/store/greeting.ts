import type { PositionMark, Welcome } from "../wire/hello.ts";
import type { Writer } from "./database.ts";
import { REREAD } from "./mend.ts";
import { recheckAll } from "./restored-relay.ts";
import type { SyncRows } from "./sync-rows.ts";

/** Takes note of the relay's storage, marks and limits, and tells from where to read its catalog (rules P7, P67). */
export async function greet(tx: Writer<SyncRows>, welcome: Welcome): Promise<number> {
  const held = async (key: string): Promise<unknown> => (await tx.get("meta", [key]))?.value;
  const [storeId, cursor, marks] = [await held("storeId"), await held("cursor"), await held("marks")];
  await tx.put("meta", { key: "limits", value: welcome.limits });
  await tx.put("meta", { key: "marks", value: welcome.marks ?? [] });
  const reread = (await held(REREAD)) === true;
  if (reread) await tx.delete("meta", [REREAD]);
  const same = storeId === welcome.storeId && typeof cursor === "number" && cursor <= welcome.cursor;
  if (same && isSameHistory((marks ?? []) as readonly PositionMark[], welcome.marks, cursor)) {
    if (reread) await tx.put("meta", { key: "cursor", value: 0 });
    return reread ? 0 : cursor;
  }
  await recheckAll(tx);
  await tx.put("meta", { key: "storeId", value: welcome.storeId });
  await tx.put("meta", { key: "cursor", value: 0 });
  return 0;
}

/**
 * Whether what the relay holds up to the cursor is what it held when the cursor was read. Marks are never used twice, so
 * one that both know vouches for all before it, and equal marks of one position for that position. False when that cannot
 * be told: reading the catalog again costs little, and a wrong yes would hide what was lost.
 */
export function isSameHistory(
  held: readonly PositionMark[],
  told: readonly PositionMark[] | undefined,
  cursor: number,
): boolean {
  if (told === undefined || cursor === 0) return true;
  const mark = markOf(held, cursor);
  if (mark !== undefined && mark === markOf(told, cursor)) return true;
  return told.some(
    (one) =>
      one.after >= cursor && held.some((other) => other.mark === one.mark && other.after === one.after),
  );
}

function markOf(marks: readonly PositionMark[], position: number): string | undefined {
  return marks.findLast(({ after }) => after < position)?.mark;
}
