import { useMemo } from "react";
import type { LiveMessages } from "../session/live-messages.ts";
import type { SyncedSession } from "../session/synced-session.ts";
import type { MessageEntry } from "../store/live-store.ts";
import { constant, useWatched, type Watched, watched } from "./watched.ts";

/** What is to be seen of a session's messages now. The same object until something in it changes. */
export interface MessagesView {
  /** Confirmed messages, then those still waiting, in order; the last 50 to begin with. */
  readonly entries: readonly MessageEntry[];
  /** Whether there are messages before the first entry. */
  readonly hasEarlier: boolean;
  /** Brings up to `n` earlier messages (50 unless told) in front of `entries`; resolves when they show. */
  readonly loadEarlier: (n?: number) => Promise<void>;
}

const nothing: MessagesView = { entries: [], hasEarlier: false, loadEarlier: () => Promise.resolve() };

/**
 * The live messages of one session. Given another session, the same render shows that one's messages and
 * none of the former's, however slowly either loads. Without a session there are none.
 */
export function useMessages(session: SyncedSession | undefined): MessagesView {
  const view = useMemo(
    () => (session === undefined ? constant(nothing) : messagesView(session.messages)),
    [session],
  );
  return useWatched(view);
}

/** The source behind `useMessages`, free of React. */
export function messagesView(messages: Pick<LiveMessages, keyof LiveMessages>): Watched<MessagesView> {
  const loadEarlier = (n?: number): Promise<void> => messages.loadEarlier(n);
  return watched(
    (listener) => messages.subscribe(listener),
    () => ({ entries: messages.entries, hasEarlier: messages.hasEarlier, loadEarlier }),
    (before, now) => before.hasEarlier === now.hasEarlier && sameEntries(before.entries, now.entries),
  );
}

function sameEntries(before: readonly MessageEntry[], now: readonly MessageEntry[]): boolean {
  if (before === now) return true;
  if (before.length !== now.length) return false;
  return now.every((entry, at) => {
    const held = before[at];
    return held?.message === entry.message && held.delivery === entry.delivery;
  });
}
