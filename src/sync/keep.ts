import type { Persistence } from "../env/persistence.ts";
import type { LocalDatabase } from "../store/database.ts";
import { RENEWED } from "../store/put-back.ts";
import type { SyncRows } from "../store/sync-rows.ts";

/** The key in `meta` that says that the browser was asked, and its answer once it came. */
const ASKED = "askedToKeep";

/**
 * Asks the browser to keep what is stored, once a database, after the first write of the user's own (to ask at the opening
 * would be to ask for nothing). A browser may ask the user in its turn, who is not asked
 * again by each tab and each start. `told` hears whether it promised, at once if it had promised before.
 * @returns stops it.
 */
export function askToKeep(
  db: LocalDatabase<SyncRows>,
  persistence: Persistence | undefined,
  told: (storage: "persisted" | "best-effort") => void,
): () => void {
  if (persistence === undefined) return () => {};
  let over = false;
  /** It is this tab that asks, and hears the answer. */
  let asks = false;
  const hear = (answer: Promise<boolean>): void => {
    answer.then(
      (kept) => {
        if (!over) told(kept ? "persisted" : "best-effort");
      },
      // No promise, then.
      () => {},
    );
  };
  hear(persistence.persisted());
  const ask = async (): Promise<void> => {
    const first = await db.write(["meta"], async (tx) => {
      if ((await tx.get("meta", [ASKED])) !== undefined) return false;
      await tx.put("meta", { key: ASKED, value: null });
      return true;
    });
    if (!first) return;
    asks = true;
    const answer = persistence.persist();
    hear(answer);
    // Tells the other tabs that there is an answer.
    const value = await answer.catch(() => false);
    await db.write(["meta"], (tx) => tx.put("meta", { key: ASKED, value }));
  };
  let noted = false;
  const unwatch = db.watch(({ tables, sessions }) => {
    if (tables.has("meta") && sessions.has(ASKED) && !asks) hear(persistence.persisted());
    // In one that is begun anew the note is gone.
    if (sessions.has(RENEWED)) noted = false;
    if (!tables.has("outbox") || noted) return;
    noted = true;
    ask().catch(() => {
      // Not noted, not asked: with the next write.
      noted = false;
    });
  });
  return () => {
    over = true;
    unwatch();
  };
}
