import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";
import type { Status } from "./sync-words.ts";

let latest = "";
const listeners = new Set<() => void>();

/** Has a screen reader say this when it next pauses. */
export function announce(text: string): void {
  // A space more makes the same text twice in a row be said twice.
  latest = latest === text ? `${text} ` : text;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The page's one live region. It says new messages, and when the connection goes or comes back. */
export function Announcer({ link }: { link: Status["link"] }): ReactNode {
  const said = useSyncExternalStore(subscribe, () => latest);
  const before = useRef(link);
  useEffect(() => {
    if (link === "connecting") return;
    const { current } = before;
    if (current === "online" && link === "offline")
      announce("Connection lost. What you write is kept on this device.");
    if (current === "offline" && link === "online") announce("Connected again.");
    before.current = link;
  }, [link]);
  return (
    <div className="visually-hidden" role="log" aria-live="polite">
      {said}
    </div>
  );
}
