import type { Answer, RelayStorage } from "../storage/contract.ts";
import { StateDocument } from "./state-document.ts";

/** Updates of one session held in storage before they are merged into one. */
export const COMPACT_AT_UPDATES = 500;

export type Compacted = "done" | "damaged" | "gone" | "failed";

/**
 * Merges a session's stored state updates into one, through a document: what was set and deleted again falls away.
 * When one of them cannot be applied nothing is touched, so that its bytes are not lost.
 */
export async function compactSession(
  storage: RelayStorage,
  session: { readonly actor: string; readonly session: string },
): Promise<Compacted> {
  const loaded = await storage.loadState({ ...session, incarnation: null });
  if ("absent" in loaded) return "gone";
  const document = new StateDocument();
  try {
    if (document.load(loaded.updates) > 0) return "damaged";
    const place = { ...session, incarnation: loaded.incarnation };
    await storage.compactState(place, { upTo: loaded.cursor, merged: document.since() });
    return "done";
  } finally {
    document.destroy();
  }
}

/** Whether a write that was refused for its size may fit once what is stored is merged. */
export function mayFitCompacted(answer: Answer): boolean {
  return !answer.ok && answer.limit?.name === "maxStateBytes" && (answer.held?.updates ?? 0) > 1;
}
