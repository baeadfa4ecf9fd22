import type { SessionEntry } from "holdfast";
import type { SessionsView } from "holdfast/react";
import { type ReactNode, useEffect, useState } from "react";
import { DeleteDialog } from "./delete-dialog.tsx";
import { BackIcon } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { RenameField } from "./rename-field.tsx";
import { titleOf } from "./title.ts";

interface ThreadHeadProps {
  readonly entry: SessionEntry | undefined;
  readonly draft: boolean;
  readonly catalog: SessionsView;
  readonly onBack: () => void;
}

export function ThreadHead({ entry, draft, catalog, onBack }: ThreadHeadProps): ReactNode {
  const [renaming, setRenaming] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const { actions } = catalog;
  const gone = entry === undefined && !draft;
  const title = draft
    ? "New conversation"
    : gone
      ? catalog.loading
        ? ""
        : "Not in your list"
      : titleOf(entry);
  useEffect(() => {
    document.title = draft ? "Holdfast" : `${title} · Holdfast`;
  }, [draft, title]);

  return (
    <header className="thread-head">
      <button type="button" className="icon-button back" aria-label="Back to the list" onClick={onBack}>
        <BackIcon />
      </button>
      {renaming && entry !== undefined ? (
        <RenameField
          title={title}
          onDone={(chosen) => {
            setRenaming(false);
            if (chosen !== undefined) void actions.rename(entry.id, chosen);
          }}
        />
      ) : (
        <h2 title={title}>{title}</h2>
      )}
      {entry?.archived === true && <span className="tag">Archived</span>}
      {entry !== undefined && !renaming && (
        <Menu
          label="Conversation actions"
          items={[
            { label: "Rename", act: () => setRenaming(true) },
            {
              label: entry.archived ? "Move back to the list" : "Archive",
              act: () => void actions.archive(entry.id, !entry.archived),
            },
            { label: "Delete…", tone: "danger", act: () => setDeleting(true) },
          ]}
        />
      )}
      {deleting && entry !== undefined && (
        <DeleteDialog entry={entry} actions={actions} onClose={() => setDeleting(false)} />
      )}
    </header>
  );
}
