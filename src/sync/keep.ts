import type { Persistence } from "../env/persistence.ts";
import type { LocalDatabase } from "../store/database.ts";
import type { SyncRows } from "../store/sync-rows.ts";

/**
 * Asks the browser to keep what is stored, once, after the first write of the user's own (to ask at the opening would be
 * to ask for nothing). `told` hears whether it promised, at once if it had promised before.
 * @returns stops it.
 */
export function askToKeep(
  db: LocalDatabase<SyncRows>,
  persistence: Persistence | undefined,
  told: (storage: "persisted" | "best-effort") => void,
): () => void {
  if (persistence === undefined) return () => {};
  let over = false;
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
  const unwatch = db.watch(({ tables }) => {
    if (!tables.has("outbox")) return;
    unwatch();
    hear(persistence.persist());
  });
  return () => {
    over = true;
    unwatch();
  };
}
