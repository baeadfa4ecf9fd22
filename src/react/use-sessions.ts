import { useMemo } from "react";
import type { SessionEntry } from "../sync/catalog.ts";
import { CatalogView, type SessionActions } from "./catalog-view.ts";
import { useClient } from "./client-context.ts";
import { useWatched } from "./watched.ts";

/** What `useSessions` shows: the first pages of the list, and what can be done with it. */
export interface SessionsView {
  /** Newest first, archived ones included. */
  readonly entries: readonly SessionEntry[];
  readonly hasMore: boolean;
  /** Shows more; resolves when they show. */
  readonly loadMore: () => Promise<void>;
  /** True until the catalog was first read. */
  readonly loading: boolean;
  /** Why the last read failed; the entries of the one before stay. */
  readonly error: unknown;
  readonly actions: SessionActions;
}

/** The actor's sessions, live. `limit` is how many to show at first and with each `loadMore` (50 unless told). */
export function useSessions(options: { readonly limit?: number } = {}): SessionsView {
  const { sessions } = useClient();
  const { limit = 50 } = options;
  const view = useMemo(() => new CatalogView(sessions, limit), [sessions, limit]);
  const reading = useWatched(view.live);
  return useMemo(
    () => ({
      entries: reading.value?.entries ?? [],
      hasMore: reading.value?.hasMore ?? false,
      loadMore: view.loadMore,
      loading: reading.phase === "loading",
      error: reading.phase === "failed" ? reading.error : undefined,
      actions: view.actions,
    }),
    [reading, view],
  );
}
