import { type ReactNode, useMemo } from "react";
import type { Client } from "../client.ts";
import { ScopeContext } from "./client-context.ts";
import { SessionLeases } from "./session-leases.ts";

/** Gives an open client to the hooks below. */
export function OpenProvider({ client, children }: { client: Client; children?: ReactNode }): ReactNode {
  const scope = useMemo(
    () => ({ client, sessions: new SessionLeases((id) => client.session(id)) }),
    [client],
  );
  return <ScopeContext.Provider value={scope}>{children}</ScopeContext.Provider>;
}
