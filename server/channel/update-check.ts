import { applyUpdate, Doc, decodeUpdate } from "yjs";
import { TimeBoxError } from "../time-box.ts";

/** What a Yjs update is worth: `empty` brings nothing, `slow` takes longer than it may. */
export type UpdateCheck = "good" | "empty" | "bad" | "slow";

/** Runs work on state within the time that it may take. @throws TimeBoxError when it was stopped */
export type StateBound = <R>(work: () => R) => R;

/** What so few bytes hold cannot take long. */
const SMALL_BYTES = 1_024;

/**
 * Whether bytes are a Yjs update that a document can take (rules P23, P53): decoded first, which costs no more than the
 * bytes do, and then applied to a document of its own, which may cost far more: within its bound.
 */
export function checkUpdate(update: Uint8Array, bound: StateBound): UpdateCheck {
  // With a name of its own: Yjs draws one at random, which costs more than all the rest.
  const scratch = new Doc({ guid: "scratch" });
  try {
    return boundedBySize(update, bound, () => {
      const { structs, ds } = decodeUpdate(update);
      if (structs.length === 0 && ds.clients.size === 0) return "empty";
      applyUpdate(scratch, update);
      return "good";
    });
  } catch (error) {
    // Whatever Yjs throws on foreign bytes, the answer is the same: they are no update.
    return error instanceof TimeBoxError ? "slow" : "bad";
  } finally {
    scratch.destroy();
  }
}

/** Work on an update, within its time where its size would let it take more. */
export function boundedBySize<R>(update: Uint8Array, bound: StateBound, work: () => R): R {
  return update.byteLength <= SMALL_BYTES ? work() : bound(work);
}
