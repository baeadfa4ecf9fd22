import { useCallback, useMemo } from "react";
import { copyJsonObject, type JsonObject } from "../model/json.ts";
import type { SyncedSession } from "../session/synced-session.ts";
import { constant, useWatched, type Watched, watched } from "./watched.ts";

/** Somebody who has the session open and says something of themselves: another tab, or another device. */
export interface Present {
  /** Another one for each tab and each time it is opened. */
  readonly id: number;
  readonly state: JsonObject;
}

/** What `usePresence` shows: who else is here, and how to say that one is. */
export interface PresenceView {
  /** In the order of their ids. */
  readonly others: readonly Present[];
  /**
   * The same function for as long as the session is the same. What this tab says of itself; undefined: nothing. Shared while connected, never stored; gone when the session is
   * closed in this tab, and 30 s after it was killed.
   * @throws InvalidInputError for what is no JSON object.
   */
  readonly set: (state: JsonObject | undefined) => void;
}

const nobody: readonly Present[] = Object.freeze([]);

/** Who else has the session open: live, in every tab, whichever holds the connection. */
export function usePresence(session: SyncedSession | undefined): PresenceView {
  const view = useMemo(
    () => (session === undefined ? constant(nobody) : presenceView(session.awareness)),
    [session],
  );
  const others = useWatched(view);
  const set = useCallback(
    (state: JsonObject | undefined): void => {
      session?.awareness.setLocalState(state === undefined ? null : copyJsonObject(state, "state"));
    },
    [session],
  );
  return useMemo(() => ({ others, set }), [others, set]);
}

/** The source behind `usePresence`, free of React. */
export function presenceView(
  awareness: Pick<SyncedSession["awareness"], "on" | "off" | "getStates" | "clientID">,
): Watched<readonly Present[]> {
  return watched(
    (listener) => {
      awareness.on("change", listener);
      return () => awareness.off("change", listener);
    },
    () =>
      [...awareness.getStates()]
        .filter(([id]) => id !== awareness.clientID)
        .sort(([a], [b]) => a - b)
        .map(([id, state]) => ({ id, state: state as JsonObject })),
    (before, now) =>
      before.length === now.length &&
      before.every(({ id, state }, at) => id === now[at]?.id && state === now[at]?.state),
  );
}
