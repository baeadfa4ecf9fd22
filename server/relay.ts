import type { IncomingMessage } from "node:http";
import { invalidInput } from "../src/model/errors.ts";
import type { Authenticator, Identity } from "./authenticator.ts";
import type { Bus } from "./bus/contract.ts";
import { localBus } from "./bus/local.ts";
import { type JwtOptions, jwtAuthenticator } from "./jwt.ts";
import { limitsWith, type RelayLimits } from "./limits.ts";
import { jsonLogger, type RelayLogger, reporterOf } from "./logger.ts";
import { nodeDigest, systemClock, systemRandom, writeToStderr } from "./node-env.ts";
import { RelayCore } from "./relay-core.ts";
import type { RelayStorage } from "./storage/contract.ts";
import { sqliteStorage } from "./storage/sqlite.ts";
import { listen } from "./websocket-listener.ts";

/** How {@link createRelay} listens, whom it believes, where it stores, and what it bounds. Everything has a default. */
export interface RelayOptions {
  /** 0 takes any free port. 8787 by default. */
  readonly port?: number | undefined;
  /** 127.0.0.1 unless authentication is configured, and then every address. */
  readonly host?: string | undefined;
  /** `sqliteStorage({ path: "holdfast.db" })` by default. */
  readonly storage?: RelayStorage | undefined;
  /** {@link localBus} by default. */
  readonly bus?: Bus | undefined;
  /** Tokens signed by a known key; the actor is the claim `sub`. */
  readonly jwt?: JwtOptions | undefined;
  /**
   * Decides whom a token speaks for, in place of `jwt`. Refuses by throwing `AuthError("expired" | "forbidden" | …)`;
   * any other error refuses the token, too.
   */
  readonly authenticate?:
    | ((token: string | undefined, request: IncomingMessage) => Promise<Identity>)
    | undefined;
  /**
   * Origins of pages that may connect, as `https://app.example`; `*` for all. None, once authentication is configured.
   * A request without an origin does not come from a browser, and is let in to show its token.
   */
  readonly origins?: readonly string[] | undefined;
  /** Whether stock y-websocket clients may show their token as the parameter `token` of the URL, where logs see it. */
  readonly tokenInUrl?: boolean | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
  /** What an acknowledgement survives: `power`, a power cut (the default); `process`, the end of the process. */
  readonly durability?: "power" | "process" | undefined;
  /** One JSON line an event to the error output by default. */
  readonly logger?: RelayLogger | undefined;
}

/** A relay that listens, until `close`. */
export interface Relay {
  /** `ws://host:port` */
  readonly url: string;
  readonly port: number;
  /** Answers what is under way, tells all clients to come again, and closes everything. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 8787;
const LOOPBACK = "127.0.0.1";

/**
 * Starts a relay. Without `jwt` or `authenticate` it is in development mode: it believes every client whom it says it
 * is, and listens on loopback only.
 * @throws InvalidInputError for options that cannot be, StorageError when the storage does not open, ConnectionError
 * when the port cannot be had
 */
export async function createRelay(options: RelayOptions = {}): Promise<Relay> {
  const { port = DEFAULT_PORT, bus = localBus(), durability = "power" } = options;
  const { origins, tokenInUrl, storage = sqliteStorage({ path: "holdfast.db" }) } = options;
  const limits = limitsWith(options.limits);
  const clock = systemClock;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalidInput("port", "must be a whole number from 0 to 65535");
  if (durability !== "power" && durability !== "process")
    throw invalidInput("durability", 'must be "power" or "process"');
  if (origins !== undefined && !Array.isArray(origins)) throw invalidInput("origins", "must be an array");
  const authenticate = authenticatorOf(options);
  const host = options.host ?? (authenticate === undefined ? LOOPBACK : undefined);
  if (authenticate === undefined && !isLoopback(host)) {
    throw invalidInput("host", "must be a loopback address while neither jwt nor authenticate is configured");
  }
  const reporter =
    options.logger === undefined ? jsonLogger(writeToStderr, { clock }) : reporterOf(options.logger);
  const environment = { clock, random: systemRandom, reporter, digest: nodeDigest };
  const core = await RelayCore.open({
    environment,
    storage,
    bus,
    limits,
    durability,
    authenticate,
    origins,
    tokenInUrl,
  });
  try {
    const listener = await listen({ core, clock, limits, port, host });
    const url = `ws://${urlHost(host)}:${listener.port}`;
    if (authenticate === undefined) {
      reporter.report("info", "development-mode", {
        url,
        means: "every client is believed whom it says it is",
      });
    }
    reporter.report("info", "listening", { url });
    const close = async (): Promise<void> => {
      listener.stop();
      await core.close();
      await listener.end();
      reporter.report("info", "closed");
    };
    let closing: Promise<void> | undefined;
    return Object.freeze({
      url,
      port: listener.port,
      close: () => {
        closing ??= close();
        return closing;
      },
    });
  } catch (error) {
    await core.close();
    throw error;
  }
}

function authenticatorOf({ jwt, authenticate }: RelayOptions): Authenticator | undefined {
  if (jwt !== undefined && authenticate !== undefined) {
    throw invalidInput("authenticate", "must not be given together with jwt");
  }
  if (jwt !== undefined) return jwtAuthenticator(jwt, systemClock);
  if (authenticate === undefined) return undefined;
  return async (token, request) => {
    if (request === undefined) throw new TypeError("A connection without a request");
    return authenticate(token, request);
  };
}

function isLoopback(host: string | undefined): boolean {
  return host !== undefined && /^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host);
}

function urlHost(host: string | undefined): string {
  if (host === undefined || host === "0.0.0.0" || host === "::") return LOOPBACK;
  return host.includes(":") ? `[${host}]` : host;
}
