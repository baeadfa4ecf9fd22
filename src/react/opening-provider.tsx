import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Client } from "../client.ts";
import type { ClientOptions } from "../open-client.ts";
import { ClientLease } from "./client-lease.ts";
import { OpenProvider } from "./open-provider.tsx";

export interface OpeningProviderProps {
  readonly options: ClientOptions;
  readonly open: (options: ClientOptions) => Promise<Client>;
  readonly fallback?: ReactNode;
  readonly children?: ReactNode;
}

type Opening =
  | { readonly phase: "opening" }
  | { readonly phase: "open"; readonly client: Client }
  | { readonly phase: "failed"; readonly error: unknown };

/** Opens one client for as long as it is mounted. Its options are read once, except for the token function. */
export function OpeningProvider({ options, open, fallback, children }: OpeningProviderProps): ReactNode {
  const [opening, setOpening] = useState<Opening>({ phase: "opening" });
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const [lease] = useState(() => new ClientLease(() => open(withLatestToken(latest))));
  useEffect(() => {
    let wanted = true;
    lease.hold().then(
      (client) => {
        if (wanted) setOpening({ phase: "open", client });
      },
      (error: unknown) => {
        if (wanted) setOpening({ phase: "failed", error });
      },
    );
    return () => {
      wanted = false;
      void lease.release();
    };
  }, [lease]);

  switch (opening.phase) {
    case "opening":
      return fallback;
    case "failed":
      throw opening.error;
    case "open":
      return <OpenProvider client={opening.client}>{children}</OpenProvider>;
  }
}

function withLatestToken(latest: { readonly current: ClientOptions }): ClientOptions {
  const first = latest.current;
  if (typeof first.token !== "function") return first;
  const fallback = first.token;
  return {
    ...first,
    token: () => {
      const { token } = latest.current;
      return typeof token === "function" ? token() : (token ?? fallback());
    },
  };
}
