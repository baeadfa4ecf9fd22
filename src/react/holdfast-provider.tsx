import type { ReactNode } from "react";
import type { Client } from "../client.ts";
import { type ClientOptions, openClient } from "../open-client.ts";
import { OpenProvider } from "./open-provider.tsx";
import { OpeningProvider } from "./opening-provider.tsx";

/** Either an open client of the application's own, or options to open one with; and what stands below. */
export type HoldfastProviderProps =
  | {
      /** A client that the application opened and closes itself. */
      readonly client: Client;
      readonly children?: ReactNode;
    }
  | {
      /**
       * Opens a client with these options, and closes it on unmount. Another `url`, `actorId`, `name` or
       * `storage` opens another client; a `token` function may be a new one at each render: the latest is asked.
       */
      readonly options: ClientOptions;
      /** Shown until the client is open. */
      readonly fallback?: ReactNode;
      readonly children?: ReactNode;
    };

/**
 * Gives every hook below it its client. With `options`, a failure to open is thrown while rendering,
 * to the nearest error boundary.
 */
export function HoldfastProvider(props: HoldfastProviderProps): ReactNode {
  if ("client" in props) return <OpenProvider client={props.client}>{props.children}</OpenProvider>;
  const { options, fallback, children } = props;
  const identity = JSON.stringify([options.url, options.actorId, options.name, options.storage]);
  return (
    <OpeningProvider key={identity} options={options} open={openClient} fallback={fallback}>
      {children}
    </OpeningProvider>
  );
}
