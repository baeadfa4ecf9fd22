import { applyUpdate, Doc, encodeStateAsUpdate } from "yjs";
import type { JsonObject } from "../model/json.ts";
import type { SeenState } from "../store/live-store.ts";
import { applyChanges, clientNumber, diffState } from "../store/state-document.ts";
import type { OpState } from "../store/sync-rows.ts";

/** What a whole-state write changes, made on the state that its writer had seen; undefined when nothing. */
export function stateOp(seen: SeenState, to: JsonObject, newId: () => string): OpState | undefined {
  const leaves = diffState(seen.state, to);
  if (leaves.length === 0) return undefined;
  const doc = new Doc();
  doc.clientID = clientNumber(newId());
  applyUpdate(doc, seen.basis);
  let update: Uint8Array | undefined;
  doc.on("update", (bytes: Uint8Array) => {
    update = bytes;
  });
  doc.transact(() => applyChanges(doc, leaves));
  doc.destroy();
  return update === undefined ? undefined : { update, leaves };
}

/** How many bytes the document takes once the update is in it. */
export function stateBytesAfter(seen: SeenState, { update }: OpState): number {
  const doc = new Doc();
  applyUpdate(doc, seen.basis);
  applyUpdate(doc, update);
  const bytes = encodeStateAsUpdate(doc).byteLength;
  doc.destroy();
  return bytes;
}
