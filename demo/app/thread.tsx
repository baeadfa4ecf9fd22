import { createMessage, type SessionEntry } from "holdfast";
import { type SessionsView, useMessages, useSession, useStream, useSyncStatus } from "holdfast/react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { announce } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { MessageList } from "./message-list.tsx";
import { plainTextOf } from "./message-text.ts";
import { ThreadHead } from "./thread-head.tsx";
import { sideOf, threadRows } from "./thread-rows.ts";
import { titleFrom } from "./title.ts";
import type { Rejected } from "./use-rejected.ts";
import { useVisible } from "./use-visible.ts";
import { Welcome } from "./welcome.tsx";

interface ThreadProps {
  readonly id: string;
  readonly entry: SessionEntry | undefined;
  /** Nothing of this conversation is stored yet: it begins with its first message. */
  readonly draft: boolean;
  readonly catalog: SessionsView;
  readonly rejected: Rejected;
  readonly onBegun: () => void;
  readonly onBack: () => void;
}

export function Thread({ id, entry, draft, catalog, rejected, onBegun, onBack }: ThreadProps): ReactNode {
  const session = useSession(id);
  const { entries, hasEarlier, loadEarlier } = useMessages(session);
  const streams = useStream(session);
  const rows = useMemo(() => threadRows(entries), [entries]);
  const [atEnd, setAtEnd] = useState(true);
  const { link } = useSyncStatus();
  // Offline, a mark would be one more thing that waits; it is made when the connection is back.
  useReadMark(catalog, entry, useVisible() && atEnd && link === "online");
  useAnnouncements(entries);

  const send = async (text: string): Promise<void> => {
    const messages = [createMessage({ role: "user", content: text })];
    // The title goes with the first message, in one write, so that it can never overwrite what a person chose.
    const written = draft
      ? session.append({ messages, metadata: { title: titleFrom(text) } })
      : session.append({ messages });
    setAtEnd(true);
    await written;
    if (draft) onBegun();
  };

  // A stop names its run, so that one that comes late ends no newer answer. It goes as state, also from offline.
  const runId = streams.findLast((stream) => stream.runId !== undefined)?.runId;
  const stop = async (): Promise<void> => {
    await session.updateState((draft) => {
      if (runId !== undefined) draft.stoppedRun = runId;
    });
    announce("Stopping the answer");
  };

  const empty = rows.length === 0;
  // The catalog knows whether there is such a conversation, without anything of it having been read.
  const gone = empty && !draft && !catalog.loading && entry === undefined;
  return (
    <>
      <ThreadHead entry={entry} draft={draft} catalog={catalog} onBack={onBack} />
      {empty && draft && <Welcome onAsk={(text) => void send(text)} />}
      {empty && !draft && (
        <div className="thread-empty" role="status">
          {gone ? <p>This conversation is not here. It may have been deleted on another device.</p> : null}
        </div>
      )}
      {!empty && (
        <MessageList
          rows={rows}
          streams={streams}
          hasEarlier={hasEarlier}
          loadEarlier={loadEarlier}
          rejected={rejected}
          atEnd={atEnd}
          onAtEnd={setAtEnd}
        />
      )}
      {!gone && (
        <Composer id={id} draft={draft} onSend={send} onStop={runId === undefined ? undefined : stop} />
      )}
    </>
  );
}

/** What is on the screen is read. */
function useReadMark(catalog: SessionsView, entry: SessionEntry | undefined, seen: boolean): void {
  const { actions } = catalog;
  const id = entry?.id;
  const count = entry?.count ?? 0;
  const unread = entry?.unread ?? 0;
  useEffect(() => {
    if (!seen || id === undefined || unread === 0) return;
    actions.markRead(id, count).catch((error: unknown) => console.error("Reading could not be noted", error));
  }, [actions, id, count, unread, seen]);
}

/** Says what others have written at the end since the thread was opened; never what was there or came in front. */
function useAnnouncements(entries: ReturnType<typeof useMessages>["entries"]): void {
  const last = useRef<string | undefined>(undefined);
  useEffect(() => {
    const at = entries.findIndex(({ message }) => message.id === last.current);
    const fresh = at === -1 ? [] : entries.slice(at + 1).filter(({ message }) => sideOf(message) === "agent");
    last.current = entries.at(-1)?.message.id ?? last.current;
    const text = fresh.map(({ message }) => plainTextOf(message)).filter((words) => words !== "");
    if (text.length > 0) announce(`Agent: ${text.join(" ")}`);
  }, [entries]);
}
