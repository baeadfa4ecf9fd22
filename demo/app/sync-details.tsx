import { type ReactNode, useEffect, useRef } from "react";
import type { AgentLink } from "./agent-link.ts";
import { agoLabel } from "./dates.ts";
import { RejectedList } from "./rejected-list.tsx";
import { type Status, statusWords, storageWords } from "./sync-words.ts";
import type { Rejected } from "./use-rejected.ts";

interface SyncDetailsProps {
  readonly status: Status;
  readonly agent: AgentLink;
  readonly relayUrl: string;
  readonly rejected: Rejected;
}

const agentWords: Readonly<Record<AgentLink, string>> = {
  none: "None here",
  asking: "Asking…",
  answering: "Answering",
  unreachable: "Not reachable",
};

/** One line on where things stand; opened, all that is known. A click elsewhere and Escape close it. */
export function SyncDetails({ status, agent, relayUrl, rejected }: SyncDetailsProps): ReactNode {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const outside = (event: Event): void => {
      const { current } = details;
      if (current !== null && event.target instanceof Node && !current.contains(event.target))
        current.open = false;
    };
    addEventListener("pointerdown", outside);
    addEventListener("focusin", outside);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("focusin", outside);
    };
  }, []);
  const { tone, text } = statusWords(status);
  const facts: readonly (readonly [string, string])[] = [
    ["Relay", relayUrl],
    [
      "Last heard from",
      status.lastSyncedAt === undefined ? "Never" : agoLabel(status.lastSyncedAt, new Date()),
    ],
    ["Waiting", String(status.pending)],
    ["Not accepted", String(status.rejected)],
    ["Stored", storageWords(status.storage)],
    ["Sending tab", status.leader ? "This one" : "Another one"],
    ["Agent", agentWords[agent]],
    ...(status.lastError === undefined ? [] : [["Last error", status.lastError.message] as const]),
  ];
  return (
    <details
      ref={details}
      className="sync"
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.open = false;
      }}
    >
      <summary>
        <span className="dot" data-tone={tone} aria-hidden="true" />
        <span data-testid="sync-status">{text}</span>
      </summary>
      <div className="sync-panel">
        <dl>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <RejectedList rejected={rejected} />
      </div>
    </details>
  );
}
