import type { Clock } from "../env/clock.ts";
import type { LocalDatabase } from "../store/database.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import type { ViewCache } from "../store/view-cache.ts";
import type { Replicas } from "./replicas.ts";
import type { TabPresence } from "./state-presence.ts";
import type { Connected } from "./until.ts";

export interface SyncedStoreOptions {
  readonly actorId: string;
  readonly db: LocalDatabase<SyncRows>;
  readonly replicas: Replicas;
  readonly presence: TabPresence;
  readonly connected: Connected;
  readonly cache: ViewCache;
  /** Told of a session whose confirmed log has messages that are missing or cannot be read. */
  readonly hurt: (session: string) => void;
  readonly clock: Clock;
  readonly now: () => string;
  readonly newId: () => string;
}
