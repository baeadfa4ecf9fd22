import { useCallback, useSyncExternalStore } from "react";
import type { SyncedSession } from "../session/synced-session.ts";
import { useScope } from "./client-context.ts";

/**
 * The session with this id, open for as long as the component shows it; it need not exist yet.
 * All components that ask for one id share one handle. Another id gives the other session in the same render.
 */
export function useSession(id: string): SyncedSession {
  const { sessions } = useScope();
  const subscribe = useCallback(() => sessions.hold(id), [sessions, id]);
  const current = (): SyncedSession => sessions.session(id);
  // What this store holds is the handle: it changes only where one was closed between rendering and subscribing.
  return useSyncExternalStore(subscribe, current, current);
}
