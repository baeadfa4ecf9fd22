import { type ReactNode, useRef } from "react";
import type { Account } from "./account.ts";
import type { AgentLink } from "./agent-link.ts";
import { Menu } from "./menu.tsx";
import { SyncDetails } from "./sync-details.tsx";
import type { Status } from "./sync-words.ts";
import type { Rejected } from "./use-rejected.ts";

interface SidebarFootProps {
  readonly account: Account;
  readonly status: Status;
  readonly agent: AgentLink;
  readonly relayUrl: string;
  readonly rejected: Rejected;
  readonly onImport: (file: File) => void;
  readonly onLogOut: () => void;
}

export function SidebarFoot({
  account,
  status,
  agent,
  relayUrl,
  rejected,
  onImport,
  onLogOut,
}: SidebarFootProps): ReactNode {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <footer className="sidebar-foot">
      <span className="avatar" aria-hidden="true">
        {account.name.slice(0, 1).toUpperCase()}
      </span>
      <div className="sidebar-who">
        <strong>{account.name}</strong>
        <SyncDetails status={status} agent={agent} relayUrl={relayUrl} rejected={rejected} />
      </div>
      <input
        ref={picker}
        type="file"
        accept=".jsonl,.ndjson,application/jsonl"
        className="visually-hidden"
        tabIndex={-1}
        aria-label="File of conversations to import"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file !== undefined) onImport(file);
          // The same file chosen again is a change again.
          event.target.value = "";
        }}
      />
      <Menu
        label="Account"
        items={[
          { label: "Import conversations…", act: () => picker.current?.click() },
          { label: "Log out…", tone: "danger", act: onLogOut },
        ]}
      />
    </footer>
  );
}
