import { type Message, textOf } from "holdfast";
import { type ReactNode, useState } from "react";
import { reasonWords } from "./reason-words.ts";
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
