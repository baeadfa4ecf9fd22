import { useMemo } from "react";
import type { JsonObject } from "../model/json.ts";
import type { SyncedSession } from "../session/synced-session.ts";
import { LiveRead, type Reading } from "./live-read.ts";
import { constant, useWatched } from "./watched.ts";

/** What `useSessionState` shows: the state, whether it was read, and how to change it. */
export interface SessionStateView {
  /** The present state; `{}` for a new session and until the first read. */
  readonly state: JsonObject;
  /** True until the state was first read. */
  readonly loading: boolean;
  /** Why the last read failed; the state of the one before stays. */
  readonly error: unknown;
  /** Changes the state by a recipe, like `session.updateState`. */
  readonly update: (recipe: (draft: JsonObject) => void) => Promise<void>;
}

const unread: Reading<JsonObject> = { phase: "loading", value: undefined };

/** The live state of one session, merged with what other devices do to it. */
export function useSessionState(session: SyncedSession | undefined): SessionStateView {
  const live = useMemo(() => (session === undefined ? constant(unread) : stateView(session)), [session]);
  const reading = useWatched(live);
  return useMemo(
    () => ({
      state: reading.value ?? {},
      loading: reading.phase === "loading",
      error: reading.phase === "failed" ? reading.error : undefined,
      update: (recipe) => {
        if (session === undefined) return Promise.reject(new TypeError("No session to update"));
        return session.updateState(recipe);
      },
    }),
    [reading, session],
  );
}

/** The source behind `useSessionState`, free of React. */
export function stateView(session: Pick<SyncedSession, "state" | "subscribe">): LiveRead<JsonObject> {
  return new LiveRead(
    (changed) => session.subscribe(changed),
    () => session.state(),
  );
}
