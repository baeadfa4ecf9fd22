import { textOf } from "holdfast";
import type { ReactNode } from "react";
import { withoutMarks } from "./message-text.ts";
import { reasonWords } from "./reason-words.ts";
import type { Rejected, RejectedOp } from "./use-rejected.ts";

/** Everything that was not accepted, wherever it belongs: also changes that no conversation shows. */
export function RejectedList({ rejected }: { rejected: Rejected }): ReactNode {
  if (rejected.ops.length === 0) return null;
  return (
    <section className="rejected-list" aria-label="Not accepted">
      <h2>Not accepted</h2>
      <ul>
        {rejected.ops.map((op) => (
          <li key={op.opId}>
            <p>{whatOf(op)}</p>
            <p>{reasonWords(op.reason)}</p>
            <button type="button" className="link-button" onClick={() => rejected.retry(op.opId)}>
              Try again
            </button>
            <button type="button" className="link-button danger" onClick={() => rejected.discard(op.opId)}>
              Discard
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function whatOf({ kind, messages }: RejectedOp): string {
  const [first] = messages;
  const words = first === undefined ? "" : withoutMarks(textOf(first));
  if (words !== "") return `“${words.length > 80 ? `${words.slice(0, 80)}…` : words}”`;
  return kind === "delete" ? "Deleting a conversation" : "A change to a conversation";
}
