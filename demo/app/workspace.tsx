import { useClient, useSessions, useSyncStatus } from "holdfast/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Account } from "./account.ts";
import { type AgentLink, useAgent } from "./agent-link.ts";
import { Announcer } from "./announcer.tsx";
import type { DemoConfig } from "./demo-config.ts";
import { DropZone } from "./drop-zone.tsx";
import { ImportPanel } from "./import-panel.tsx";
import { LogOutDialog } from "./log-out-dialog.tsx";
import { go, goInstead, useRoute } from "./route.ts";
import { Sidebar } from "./sidebar.tsx";
import { SyncBanner } from "./sync-banner.tsx";
import { Thread } from "./thread.tsx";
import { useRejected } from "./use-rejected.ts";

interface WorkspaceProps {
  readonly account: Account;
  readonly config: DemoConfig;
  readonly onLeave: () => void;
}

export function Workspace({ account, config, onLeave }: WorkspaceProps): ReactNode {
  const client = useClient();
  const status = useSyncStatus();
  const catalog = useSessions({ limit: 100 });
  const rejected = useRejected(client);
  const agent: AgentLink = useAgent(config.agentUrl, client.actorId, status.link);
  const route = useRoute();
  const [draftId, setDraftId] = useState(newConversationId);
  const [file, setFile] = useState<File | undefined>();
  const [leaving, setLeaving] = useState(false);
  const search = useRef<HTMLInputElement>(null);

  useEffect(() => {
    // Logging out in another tab closes this one's client as well.
    if (status.link === "closed") onLeave();
  }, [status.link, onLeave]);
  useEffect(() => onSearchKey(() => search.current?.focus()), []);

  const id = route.kind === "conversation" ? route.id : draftId;
  const entry = catalog.entries.find((candidate) => candidate.id === id);
  const begun = (): void => {
    if (id !== draftId) return;
    // The draft has become a conversation: it keeps its place, and the next new one gets an id of its own.
    goInstead({ kind: "conversation", id });
    setDraftId(newConversationId());
  };

  return (
    <main className="workspace" data-view={route.kind === "list" ? "list" : "thread"}>
      <h1 className="visually-hidden">Holdfast</h1>
      <Sidebar
        account={account}
        catalog={catalog}
        openId={route.kind === "conversation" ? route.id : undefined}
        status={status}
        agent={agent}
        relayUrl={account.relayUrl}
        rejected={rejected}
        search={search}
        onImport={setFile}
        onLogOut={() => setLeaving(true)}
      />
      <section className="pane" aria-label="Conversation">
        <SyncBanner status={status} onReconnect={() => client.reconnect()} />
        <Thread
          key={id}
          id={id}
          entry={entry}
          draft={id === draftId}
          catalog={catalog}
          rejected={rejected}
          onBegun={begun}
          onBack={() => go({ kind: "list" })}
        />
      </section>
      <Announcer link={status.link} />
      <DropZone onFile={setFile} />
      {file !== undefined && <ImportPanel file={file} onClose={() => setFile(undefined)} />}
      {leaving && <LogOutDialog client={client} onStay={() => setLeaving(false)} onLeft={onLeave} />}
    </main>
  );
}

/** Unlike `crypto.randomUUID`, there also on pages that are not served securely. */
function newConversationId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `chat-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function onSearchKey(focus: () => void): () => void {
  const listener = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.altKey) return;
    event.preventDefault();
    focus();
    if (!matchMedia("(max-width: 48rem)").matches) return;
    // There the list has to become visible before it can take the focus.
    go({ kind: "list" });
    requestAnimationFrame(focus);
  };
  addEventListener("keydown", listener);
  return () => removeEventListener("keydown", listener);
}
