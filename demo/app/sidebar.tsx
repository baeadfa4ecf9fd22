import type { SessionsView } from "holdfast/react";
import { type ReactNode, type RefObject, useDeferredValue, useRef, useState } from "react";
import type { Account } from "./account.ts";
import type { AgentLink } from "./agent-link.ts";
import { ConversationList } from "./conversation-list.tsx";
import { ArchiveIcon, BackIcon, CloseIcon, Mark, PlusIcon, SearchIcon } from "./icons.tsx";
import { hrefOf } from "./route.ts";
import { SidebarFoot } from "./sidebar-foot.tsx";
import type { Status } from "./sync-words.ts";
import type { Rejected } from "./use-rejected.ts";
import { useSearch } from "./use-search.ts";

interface SidebarProps {
  readonly account: Account;
  readonly catalog: SessionsView;
  readonly openId: string | undefined;
  readonly status: Status;
  readonly agent: AgentLink;
  readonly relayUrl: string;
  readonly rejected: Rejected;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onImport: (file: File) => void;
  readonly onLogOut: () => void;
}

export function Sidebar(props: SidebarProps): ReactNode {
  const { catalog, openId, search } = props;
  const [text, setText] = useState("");
  const [archive, setArchive] = useState(false);
  const list = useRef<HTMLElement>(null);
  const found = useSearch(catalog, useDeferredValue(text.trim()));
  const archived = catalog.entries.filter((entry) => entry.archived);
  const shown = found ?? (archive ? archived : catalog.entries.filter((entry) => !entry.archived));
  const focusList = (): void => list.current?.querySelector<HTMLElement>("a[href]")?.focus();

  return (
    <section className="sidebar" aria-label="Conversations">
      <header className="sidebar-head">
        <Mark />
        <span className="sidebar-name">Holdfast</span>
        <a
          className="icon-button accent"
          href={hrefOf({ kind: "new" })}
          aria-label="New conversation"
          title="New conversation"
        >
          <PlusIcon />
        </a>
      </header>
      <search className="search">
        <SearchIcon />
        <input
          ref={search}
          type="search"
          aria-label="Search conversations"
          placeholder="Search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") {
              event.preventDefault();
              focusList();
            }
            if (event.key !== "Escape") return;
            if (text === "") event.currentTarget.blur();
            setText("");
          }}
        />
        {text === "" ? (
          <span className="key" aria-hidden="true">
            {isMac() ? "⌘K" : "Ctrl K"}
          </span>
        ) : (
          <button
            type="button"
            className="icon-button small"
            aria-label="Clear search"
            onClick={() => setText("")}
          >
            <CloseIcon />
          </button>
        )}
      </search>
      {archive && found === undefined && (
        <button type="button" className="archive-back" onClick={() => setArchive(false)}>
          <BackIcon /> Archived
        </button>
      )}
      <ConversationList
        list={list}
        entries={shown}
        catalog={catalog}
        openId={openId}
        empty={emptyWords(catalog, found !== undefined, archive)}
        grouped={found === undefined}
      />
      {!archive && found === undefined && archived.length > 0 && (
        <button type="button" className="archive-open" onClick={() => setArchive(true)}>
          <ArchiveIcon /> Archived <span className="count">{archived.length}</span>
        </button>
      )}
      <SidebarFoot {...props} />
    </section>
  );
}

function emptyWords(catalog: SessionsView, searching: boolean, archive: boolean): string {
  if (catalog.loading) return "Loading…";
  if (catalog.error !== undefined) return "The conversations could not be read.";
  if (searching) return "Nothing found in titles and last messages.";
  return archive
    ? "Nothing is archived."
    : "No conversations yet. What you write will be kept here, with or without a network.";
}

function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent);
}
