import type { SessionEntry } from "holdfast";
import type { SessionsView } from "holdfast/react";
import { type KeyboardEvent, type ReactNode, type RefObject, useState } from "react";
import { ConversationItem } from "./conversation-item.tsx";
import { ageLabel, shortLabel } from "./dates.ts";
import { DeleteDialog } from "./delete-dialog.tsx";

interface ConversationListProps {
  readonly list: RefObject<HTMLElement | null>;
  readonly entries: readonly SessionEntry[];
  readonly catalog: SessionsView;
  readonly openId: string | undefined;
  readonly empty: string;
  readonly grouped: boolean;
}

export function ConversationList(props: ConversationListProps): ReactNode {
  const { list, entries, catalog, openId, empty, grouped } = props;
  const [renaming, setRenaming] = useState<string | undefined>();
  const [deleting, setDeleting] = useState<SessionEntry | undefined>();
  const now = new Date();
  // One stop for the Tab key: the open conversation, or the first; arrows go from there.
  const tabStop = entries.some((entry) => entry.id === openId) ? openId : entries[0]?.id;

  return (
    <nav ref={list} className="conversations" aria-label="Conversation list" onKeyDown={moveFocus}>
      {entries.length === 0 && <p className="conversations-empty">{empty}</p>}
      {sectionsOf(entries, grouped, now).map(({ label, entries: part }) => (
        <section key={label} aria-label={label === "" ? undefined : label}>
          {label !== "" && <h2 className="conversations-heading">{label}</h2>}
          <ul>
            {part.map((entry) => (
              <ConversationItem
                key={entry.id}
                entry={entry}
                time={shortLabel(entry.updatedAt, now)}
                open={entry.id === openId}
                tabStop={entry.id === tabStop}
                renaming={entry.id === renaming}
                actions={catalog.actions}
                onRename={setRenaming}
                onDelete={setDeleting}
              />
            ))}
          </ul>
        </section>
      ))}
      {grouped && catalog.hasMore && (
        <button type="button" className="button quiet" onClick={() => void catalog.loadMore()}>
          Show more
        </button>
      )}
      {deleting !== undefined && (
        <DeleteDialog entry={deleting} actions={catalog.actions} onClose={() => setDeleting(undefined)} />
      )}
    </nav>
  );
}

interface Section {
  readonly label: string;
  readonly entries: readonly SessionEntry[];
}

/** Newest first as they come; a change of the clock between two devices must not make one heading stand twice. */
function sectionsOf(entries: readonly SessionEntry[], grouped: boolean, now: Date): readonly Section[] {
  if (entries.length === 0) return [];
  if (!grouped) return [{ label: "", entries }];
  const sections = new Map<string, SessionEntry[]>();
  for (const entry of entries) {
    const label = ageLabel(entry.updatedAt, now);
    const section = sections.get(label);
    if (section === undefined) sections.set(label, [entry]);
    else section.push(entry);
  }
  return [...sections].map(([label, part]) => ({ label, entries: part }));
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a[href]")];
  const { activeElement } = document;
  const at = activeElement instanceof HTMLElement ? links.indexOf(activeElement) : -1;
  if (at === -1) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  links[Math.min(Math.max(to, 0), links.length - 1)]?.focus();
}
