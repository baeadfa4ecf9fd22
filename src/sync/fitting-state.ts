import type { JsonObject } from "../model/json.ts";
import type { LocalDatabase } from "../store/database.ts";
import type { SeenState } from "../store/live-store.ts";
import type { OpState, SyncRows } from "../store/sync-rows.ts";
import { checkStateBytes, limitsIn } from "./op-limits.ts";
import { stateBytesAfter, stateOp } from "./state-op.ts";

/**
 * What a whole-state write changes; undefined when nothing. A state that would grow beyond what the relay holds is
 * refused here, one edit after another; what makes it smaller never is.
 * @throws RejectedError `too-large`
 */
export async function fittingStateOp(
  { db, newId }: { readonly db: LocalDatabase<SyncRows>; readonly newId: () => string },
  seen: SeenState,
  to: JsonObject,
): Promise<OpState | undefined> {
  const state = stateOp(seen, to, newId);
  const limits = await db.read(["meta"], limitsIn);
  const before = seen.basis.byteLength;
  if (state === undefined || limits === undefined) return state;
  if (before + state.update.byteLength <= limits.maxStateBytes) return state;
  const after = stateBytesAfter(seen, state);
  if (after > before) checkStateBytes(after, limits);
  return state;
}
