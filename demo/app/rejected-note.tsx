import { type Message, textOf } from "holdfast";
import { type ReactNode, useState } from "react";
import type { Rejected, RejectedOp } from "./use-rejected.ts";

interface RejectedNoteProps {
  readonly message: Message;
  readonly op: RejectedOp | undefined;
  readonly rejected: Rejected;
}

/** Why a message was not accepted, and what can be done: nothing disappears by itself. */
export function RejectedNote({ message, op, rejected }: RejectedNoteProps): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(textOf(message));
    setCopied(true);
  };
  return (
    <div className="rejected-note">
      <p>
        <strong>Not accepted.</strong> {reasonWords(op?.reason)}
      </p>
      <div className="rejected-actions">
        {op !== undefined && (
          <button type="button" className="link-button" onClick={() => rejected.retry(op.opId)}>
            Try again
          </button>
        )}
        <button type="button" className="link-button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy text"}
        </button>
        {op !== undefined && (
          <button type="button" className="link-button danger" onClick={() => rejected.discard(op.opId)}>
            Discard
          </button>
        )}
      </div>
    </div>
  );
}

function reasonWords(code: string | undefined): string {
  switch (code) {
    case "too-large":
      return "The message is larger than the relay takes.";
    case "conflict":
      return "Somebody else wrote in between.";
    case "deleted":
    case "unknown-session":
      return "The conversation was deleted on another device.";
    case "forbidden":
      return "The relay does not let you write here.";
    case undefined:
      return "The relay refused it.";
    default:
      return `The relay refused it (${code}).`;
  }
}
