import { useMemo } from "react";
import type { Client } from "../client.ts";
import type { ClientStatus } from "../sync/status.ts";
import { useClient } from "./client-context.ts";
import { useWatched, type Watched, watched } from "./watched.ts";

/** Where the client stands: link, waiting and rejected ops, storage. Renders again when one of them changes. */
export function useSyncStatus(): ClientStatus {
  const client = useClient();
  return useWatched(useMemo(() => statusView(client), [client]));
}

/** The source behind `useSyncStatus`, free of React. */
export function statusView(client: Pick<Client, "status" | "subscribe">): Watched<ClientStatus> {
  return watched(
    (listener) => client.subscribe(listener),
    () => client.status,
    sameStatus,
  );
}

function sameStatus(before: ClientStatus, now: ClientStatus): boolean {
  return (
    before.link === now.link &&
    before.pending === now.pending &&
    before.rejected === now.rejected &&
    before.lastSyncedAt === now.lastSyncedAt &&
    before.lastError === now.lastError &&
    before.storage === now.storage &&
    before.leader === now.leader
  );
}
