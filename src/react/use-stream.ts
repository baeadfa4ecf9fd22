import { useMemo } from "react";
import type { LiveStreams } from "../session/live-streams.ts";
import type { SyncedSession } from "../session/synced-session.ts";
import type { RunningStream } from "../store/running-streams.ts";
import { constant, useWatched, type Watched, watched } from "./watched.ts";

const nothing: readonly RunningStream[] = Object.freeze([]);

/**
 * The messages being written in a session now, on any device. Rendered behind those of `useMessages`, each is shown once:
 * in one render the finished message takes its place.
 */
export function useStream(session: SyncedSession | undefined): readonly RunningStream[] {
  const view = useMemo(
    () => (session === undefined ? constant(nothing) : streamsView(session.streams)),
    [session],
  );
  return useWatched(view);
}

function streamsView(streams: LiveStreams): Watched<readonly RunningStream[]> {
  return watched(
    (listener) => streams.subscribe(listener),
    () => streams.entries,
    Object.is,
  );
}
