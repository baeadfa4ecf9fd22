import type { SessionEntry } from "holdfast";
import type { SessionActions } from "holdfast/react";
import { type KeyboardEvent, memo, type ReactNode } from "react";
import { ClockIcon } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { withoutMarks } from "./message-text.ts";
import { RenameField } from "./rename-field.tsx";
import { hrefOf } from "./route.ts";
import { titleOf } from "./title.ts";

interface ConversationItemProps {
  readonly entry: SessionEntry;
  /** When it last changed, in words. */
  readonly time: string;
  readonly open: boolean;
  readonly tabStop: boolean;
  readonly renaming: boolean;
  readonly actions: SessionActions;
  readonly onRename: (id: string | undefined) => void;
  readonly onDelete: (entry: SessionEntry) => void;
}

/** Its props are the same objects until something changes, so that a change of one item draws only that one. */
export const ConversationItem = memo(function ConversationItem(props: ConversationItemProps): ReactNode {
  const { entry, time, open, tabStop, renaming, actions, onRename, onDelete } = props;
  const title = titleOf(entry);
  // The person's own words that still wait were never unread to them.
  const unread = open ? 0 : Math.max(0, entry.unread - entry.pending);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "F2") onRename(entry.id);
    else if (event.key === "Delete") onDelete(entry);
    else return;
    event.preventDefault();
  };
  if (renaming) {
    return (
      <li className="conversation renaming">
        <RenameField
          title={title}
          onDone={(chosen) => {
            onRename(undefined);
            if (chosen !== undefined) void actions.rename(entry.id, chosen);
          }}
        />
      </li>
    );
  }
  return (
    <li className="conversation" data-unread={unread > 0}>
      <a
        href={hrefOf({ kind: "conversation", id: entry.id })}
        aria-current={open ? "page" : undefined}
        tabIndex={tabStop ? 0 : -1}
        onKeyDown={onKeyDown}
      >
        <span className="conversation-title">{title}</span>
        <time className="conversation-time" dateTime={entry.updatedAt}>
          {time}
        </time>
        <span className="conversation-preview">{previewOf(entry)}</span>
        <span className="conversation-marks">
          {entry.pending > 0 && (
            <span className="conversation-pending" title={`${entry.pending} waiting to be sent`}>
              <ClockIcon />
              <span className="visually-hidden">{entry.pending} waiting to be sent</span>
            </span>
          )}
          {unread > 0 && (
            <span className="badge">
              {unread > 99 ? "99+" : unread}
              <span className="visually-hidden"> unread</span>
            </span>
          )}
        </span>
      </a>
      <Menu
        label={`Actions for ${title}`}
        tabStop={tabStop}
        items={[
          { label: "Rename", keys: "F2", act: () => onRename(entry.id) },
          {
            label: entry.archived ? "Move back to the list" : "Archive",
            act: () => void actions.archive(entry.id, !entry.archived),
          },
          { label: "Delete…", keys: "Del", tone: "danger", act: () => onDelete(entry) },
        ]}
      />
    </li>
  );
});

/** A last message without words, as the result of a tool, has no preview. */
function previewOf({ preview, count }: SessionEntry): string {
  if (preview !== "") return withoutMarks(preview);
  if (count === 0) return "No messages";
  return count === 1 ? "1 message" : `${count} messages`;
}
