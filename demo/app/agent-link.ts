import { useEffect, useState } from "react";
import type { Status } from "./sync-words.ts";

/** Whether somebody answers: asked anew whenever the connection comes back, because the agent may have restarted. */
export type AgentLink = "none" | "asking" | "answering" | "unreachable";

export function useAgent(agentUrl: string | undefined, actorId: string, link: Status["link"]): AgentLink {
  const [state, setState] = useState<AgentLink>(agentUrl === undefined ? "none" : "asking");
  useEffect(() => {
    if (agentUrl === undefined || link !== "online") return;
    const stop = new AbortController();
    joinAgent(agentUrl, actorId, stop.signal).then(
      (joined) => setState(joined ? "answering" : "unreachable"),
      () => {
        if (!stop.signal.aborted) setState("unreachable");
      },
    );
    return () => stop.abort();
  }, [agentUrl, actorId, link]);
  // Its answers come through the relay.
  return state !== "none" && link !== "online" ? "unreachable" : state;
}

async function joinAgent(agentUrl: string, actorId: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(`${agentUrl}/join`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ actorId }),
    signal,
  });
  return response.ok;
}
