import { type Context, createContext, useContext } from "react";
import type { Client } from "../client.ts";
import type { SessionLeases } from "./session-leases.ts";

/** What a provider gives to the hooks below it. */
export interface Scope {
  readonly client: Client;
  readonly sessions: SessionLeases;
}

export const ScopeContext: Context<Scope | undefined> = /* @__PURE__ */ createContext<Scope | undefined>(
  undefined,
);

export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (scope === undefined) throw new Error("There is no <HoldfastProvider> above this component");
  return scope;
}

/** The client of the nearest `HoldfastProvider`. Throws where there is none above. */
export function useClient(): Client {
  return useScope().client;
}
