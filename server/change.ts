import type { Change } from "./bus/contract.ts";
import type { Accepted, Write } from "./storage/contract.ts";

/** What others are told of an accepted write; undefined when nothing changed now (P42, P43). */
export function changeOf(write: Write, accepted: Accepted): Change | undefined {
  const { entry, outcome } = accepted;
  if (entry === undefined) return undefined;
  const { actor } = write;
  const state = stateOf(write);
  return {
    type: "change",
    actor,
    entry,
    append:
      write.kind === "append" && outcome === "applied" && write.messages.length > 0
        ? {
            start: entry.head.count - write.messages.length,
            messages: write.messages.map(({ id, body }) => ({ id, body, op: write.opId })),
          }
        : undefined,
    state: state === undefined ? undefined : { after: entry.stateCursor - 1, updates: [state] },
  };
}

function stateOf(write: Write): Uint8Array | undefined {
  if (write.kind === "state") return write.update;
  return write.kind === "append" || write.kind === "replace" ? write.state : undefined;
}
