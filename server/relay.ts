import type { Authenticator } from "./authenticator.ts";
import { localBus } from "./bus/local.ts";
import { httpAnswers } from "./http-answers.ts";
import { jwtAuthenticator } from "./jwt.ts";
import { limitsWith } from "./limits.ts";
import { jsonLogger, reporterOf } from "./logger.ts";
import { nodeDigest, nodeTimeBox, systemClock, systemRandom, writeToStderr } from "./node-env.ts";
import { Readiness } from "./readiness.ts";
import { RelayCore } from "./relay-core.ts";
import { checkRelayOptions, LOOPBACK, type RelayOptions } from "./relay-options.ts";
import { sqliteStorage } from "./storage/sqlite.ts";
import { listen } from "./websocket-listener.ts";

/** A relay that listens, until `close`. */
export interface Relay {
  /** `ws://host:port` */
  readonly url: string;
  readonly port: number;
  /** Answers what is under way, tells all clients to come again, and closes everything. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 8787;

/**
 * Starts a relay. Without `jwt` or `authenticate` it is in development mode: it believes every client whom it says it
 * is, and listens on loopback only.
 * @throws InvalidInputError for options that cannot be, StorageError when the storage does not open, ConnectionError
 * when the port cannot be had
 */
export async function createRelay(options: RelayOptions = {}): Promise<Relay> {
  checkRelayOptions(options);
  const { port = DEFAULT_PORT, bus = localBus(), durability = "power" } = options;
  const { origins, tokenInUrl, storage = sqliteStorage({ path: "holdfast.db" }) } = options;
  const limits = limitsWith(options.limits);
  const clock = systemClock;
  const authenticate = authenticatorOf(options);
  const host = options.host ?? (authenticate === undefined ? LOOPBACK : undefined);
  const reporter =
    options.logger === undefined ? jsonLogger(writeToStderr, { clock }) : reporterOf(options.logger);
  const environment = { clock, random: systemRandom, reporter, digest: nodeDigest, timeBox: nodeTimeBox };
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
    const readiness = new Readiness(storage, { clock, reporter });
    const answerHttp = httpAnswers(() => readiness.ready());
    const listener = await listen({ core, clock, limits, port, host, answerHttp });
    const url = `ws://${urlHost(host)}:${listener.port}`;
    if (authenticate === undefined) {
      reporter.report("info", "development-mode", {
        url,
        means: "every client is believed whom it says it is",
      });
    }
    reporter.report("info", "listening", { url });
    const close = async (): Promise<void> => {
      readiness.end();
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
  if (jwt !== undefined) return jwtAuthenticator(jwt, systemClock);
  if (authenticate === undefined) return undefined;
  return async (token, request) => {
    if (request === undefined) throw new TypeError("A connection without a request");
    return authenticate(token, request);
  };
}

function urlHost(host: string | undefined): string {
  if (host === undefined || host === "0.0.0.0" || host === "::") return LOOPBACK;
  return host.includes(":") ? `[${host}]` : host;
}
