import { applyUpdate, Doc, decodeUpdate } from "yjs";

/**
 * Whether bytes are a Yjs update that a document can take (rules P23, P53): decoded first, which costs no more than the
 * bytes do, and then applied to a document of its own. `empty` brings nothing.
 */
export function checkUpdate(update: Uint8Array): "good" | "empty" | "bad" {
  const scratch = new Doc();
  try {
    const { structs, ds } = decodeUpdate(update);
    if (structs.length === 0 && ds.clients.size === 0) return "empty";
    applyUpdate(scratch, update);
    return "good";
  } catch {
    return "bad"; // Whatever Yjs throws on foreign bytes, the answer is the same: they are no update.
  } finally {
    scratch.destroy();
  }
}
