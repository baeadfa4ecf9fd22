import { textOf } from "holdfast";
import { memo, type ReactNode } from "react";
import { timeLabel } from "./dates.ts";
import { DeliveryTick } from "./delivery-tick.tsx";
import { Mark } from "./icons.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import { RejectedNote } from "./rejected-note.tsx";
import { type Row, sideOf } from "./thread-rows.ts";
import { ToolCallView } from "./tool-call-view.tsx";
import type { Rejected, RejectedOp } from "./use-rejected.ts";

interface MessageRowProps {
  readonly row: Extract<Row, { kind: "message" }>;
  readonly op: RejectedOp | undefined;
  readonly rejected: Rejected;
}

function MessageRowView({ row, op, rejected }: MessageRowProps): ReactNode {
  const { message, delivery } = row.entry;
  const side = sideOf(message);
  // A tick where something is to be told, and on the person's own last message of a group.
  const tick = delivery !== "confirmed" || (side === "person" && row.last);
  return (
    <li
      className="message"
      data-side={side}
      data-first={row.first}
      data-last={row.last}
      data-delivery={delivery}
      data-message-id={message.id}
    >
      {side === "agent" && row.first && (
        <div className="speaker">
          <Mark className="speaker-mark" />
          <span>{message.role === "developer" ? "Developer" : "Agent"}</span>
        </div>
      )}
      {side === "person" && <span className="visually-hidden">You:</span>}
      {row.text && (
        <div className="bubble">
          <MarkdownView text={textOf(message)} />
          {message.content.map((block, at) =>
            block.type === "image" || block.type === "document" ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a message's blocks never move
              <span key={at} className="tag">
                {block.name ?? block.mediaType}
              </span>
            ) : null,
          )}
        </div>
      )}
      {row.calls.map((call) => (
        <ToolCallView key={call.key} call={call} />
      ))}
      {(tick || row.last) && (
        <div className="message-meta">
          <time dateTime={message.createdAt}>{timeLabel(message.createdAt)}</time>
          {message.metadata.stopped === true && <span>stopped</span>}
          {tick && <DeliveryTick delivery={delivery} />}
        </div>
      )}
      {delivery === "rejected" && <RejectedNote message={message} op={op} rejected={rejected} />}
    </li>
  );
}

export const MessageRow = memo(
  MessageRowView,
  (before, now) =>
    before.row.entry.message === now.row.entry.message &&
    before.row.entry.delivery === now.row.entry.delivery &&
    before.row.first === now.row.first &&
    before.row.last === now.row.last &&
    before.op === now.op &&
    before.row.calls.length === now.row.calls.length &&
    before.row.calls.every((call, at) => call.result === now.row.calls[at]?.result),
);
