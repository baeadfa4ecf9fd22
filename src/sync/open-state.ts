import type { LocalDatabase } from "../store/database.ts";
import type { OpenState } from "../store/live-store.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import type { Replicas } from "./replicas.ts";
import type { TabPresence } from "./state-presence.ts";

export interface OpenStateParts {
  readonly replicas: Replicas;
  readonly presence: TabPresence;
  readonly db: LocalDatabase<SyncRows>;
  now(): string;
}

/** Holds the session's document open in this tab, in the life that the session has now. */
export function openState({ replicas, presence, db, now }: OpenStateParts, id: string): OpenState {
  const replica = replicas.acquire(id);
  const leave = presence.enter(replica);
  const openedAt = now();
  let open = true;
  // The session may have been named since the document was read. What fails here fails again where it matters.
  replica.catchUp().catch(() => undefined);
  return {
    doc: replica.doc,
    awareness: replica.awareness,
    get incarnation() {
      return replica.incarnation;
    },
    ended: async () => {
      await replica.catchUp();
      if (replica.isOver) return true;
      const ops = await db.read(["outbox"], (tx) => tx.list("outbox", { prefix: [id] }));
      return ops.some(({ kind, at }) => kind === "delete" && at >= openedAt);
    },
    close: async () => {
      if (!open) return;
      open = false;
      leave();
      await replicas.release(replica);
    },
  };
}
