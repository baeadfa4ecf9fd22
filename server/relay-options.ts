import type { IncomingMessage } from "node:http";
import { invalidInput } from "../src/model/errors.ts";
import { isPlainObject } from "../src/model/json.ts";
import type { Identity } from "./authenticator.ts";
import type { Bus } from "./bus/contract.ts";
import { checkJwtOptions, type JwtOptions } from "./jwt-options.ts";
import { limitsWith, type RelayLimits } from "./limits.ts";
import { isLogger, type RelayLogger } from "./logger.ts";
import { isOrigin } from "./origins.ts";
import type { RelayStorage } from "./storage/contract.ts";

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

export const LOOPBACK = "127.0.0.1";

type Problem = string | undefined;

/** What is wrong with a value, apart from the options whose own checks name a deeper path. */
const PROBLEMS: { readonly [Name in keyof RelayOptions]-?: (value: unknown) => Problem } = {
  port: (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535
      ? undefined
      : "must be a whole number from 0 to 65535",
  host: (value) =>
    typeof value === "string" && /^\S+$/.test(value) ? undefined : "must be an address or a host's name",
  storage: (value) =>
    hasMethods(value, STORAGE_METHODS) ? undefined : "must be a RelayStorage, as sqliteStorage() makes one",
  bus: (value) => (hasMethods(value, ["join"]) ? undefined : "must be a Bus, as localBus() makes one"),
  jwt: () => undefined,
  authenticate: (value) => (typeof value === "function" ? undefined : "must be a function"),
  origins: (value) => (Array.isArray(value) ? undefined : "must be an array"),
  tokenInUrl: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
  limits: () => undefined,
  durability: (value) =>
    value === "power" || value === "process" ? undefined : 'must be "power" or "process"',
  logger: (value) =>
    isLogger(value) ? undefined : "must be a logger with error, info and debug, or with report",
};

const STORAGE_METHODS: readonly (keyof RelayStorage)[] = [
  "open",
  "close",
  "apply",
  "position",
  "catalog",
  "pull",
  "readGeneration",
  "listGenerations",
  "loadState",
  "compactState",
  "inspect",
];

/** Opens nothing and changes nothing. @throws InvalidInputError that names the first option that cannot be */
export function checkRelayOptions(options: RelayOptions): void {
  const given: unknown = options;
  if (!isPlainObject(given)) throw invalidInput("options", "must be an object");
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(PROBLEMS, name)) throw invalidInput(name, "is no option of a relay");
    const problem = value === undefined ? undefined : PROBLEMS[name as keyof RelayOptions](value);
    if (problem !== undefined) throw invalidInput(name, problem);
  }
  const { host, jwt, authenticate, origins, limits } = options;
  for (const [index, origin] of (origins ?? []).entries()) {
    if (isOrigin(origin)) continue;
    throw invalidInput(
      `origins[${index}]`,
      'must be "*" or an origin as https://app.example, without a path',
    );
  }
  limitsWith(limits);
  if (jwt !== undefined) checkJwtOptions(jwt);
  if (jwt !== undefined && authenticate !== undefined) {
    throw invalidInput("authenticate", "must not be given together with jwt");
  }
  if (jwt === undefined && authenticate === undefined && !isLoopback(host ?? LOOPBACK)) {
    throw invalidInput("host", "must be a loopback address while neither jwt nor authenticate is configured");
  }
}

function isLoopback(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as { readonly [name: string]: unknown })[name] === "function");
}
