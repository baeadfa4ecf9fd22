import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SignJWT } from "jose";
import { HoldfastError } from "../src/model/errors.ts";
import { checkId } from "../src/model/ids.ts";
import type { CommandProcess } from "./command-process.ts";
import { checkSecret } from "./jwt-options.ts";
import type { RelayLimits } from "./limits.ts";
import { jsonLogger } from "./logger.ts";
import { systemClock } from "./node-env.ts";
import { createRelay } from "./relay.ts";
import { checkRelayOptions, type RelayOptions } from "./relay-options.ts";
import { sqliteStorage } from "./storage/sqlite.ts";
import { checkSqliteFile } from "./storage/sqlite-check.ts";

const DEFAULT_DATA = "holdfast-data";
const DATABASE = "holdfast.db";

const HELP = `Usage: holdfast <command> [options]

holdfast relay             run a relay on SQLite
  --port <n>               8787; 0 takes any free port
  --host <address>         127.0.0.1, or every address once tokens are checked
  --data <folder>          where the database is kept: ./holdfast-data
  --jwt-secret <text>      check tokens signed with HS256, HS384 or HS512; at least 32 bytes (or HOLDFAST_JWT_SECRET)
  --jwt-public-key <file>  check tokens by an SPKI PEM public key: RSA, EC or Ed25519
  --jwks-url <url>         check tokens by the keys published there
  --jwt-issuer <text>      and by who issued them
  --jwt-audience <text>    and by whom they are for
  --origin <origin>        a page that may connect, as https://app.example; repeatable
  --durability <kind>      power: acknowledged survives a power cut (default); process: the end of the process
  --limit <name=value>     as maxMessageBytes=65536; repeatable
Without a secret, key or URL the relay is in development mode: on loopback only, and every client is believed.

holdfast token             print a token for an actor, signed with HS256
  --actor <id>             whom it speaks for
  --jwt-secret <text>      (or HOLDFAST_JWT_SECRET)
  --ttl <seconds>          how long it lasts: 3600

holdfast check             look through a database for damage; the relay may run
  --data <folder>          where it is kept: ./holdfast-data

holdfast --help            this text
`;

/** Runs the command line; answers the exit code. */
export async function runCommand(command: CommandProcess): Promise<number> {
  const [name, ...args] = command.argv;
  try {
    if (args.includes("--help") || name === undefined || name === "--help" || name === "help") {
      command.out(HELP);
      return name === undefined ? 2 : 0;
    }
    if (name === "relay") return await runRelay(args, command);
    if (name === "token") return await runToken(args, command);
    if (name === "check") return runCheck(args, command);
    throw new UsageError(`There is no command ${name}`);
  } catch (error) {
    if (error instanceof UsageError) {
      command.err(`holdfast: ${error.message}\nholdfast --help tells what there is.\n`);
      return 2;
    }
    if (!(error instanceof HoldfastError)) throw error;
    command.err(`holdfast: ${error.message}\n`);
    return 1;
  }
}

class UsageError extends Error {}

async function runRelay(args: readonly string[], command: CommandProcess): Promise<number> {
  const logger = jsonLogger(command.err, { clock: { ...systemClock, now: command.nowMs } });
  const { data, ...options } = relayOptions(args, command.env);
  // Before the folder is made: what cannot be started leaves nothing behind.
  checkRelayOptions(options);
  const storage = sqliteStorage({ path: join(makeFolder(data), DATABASE) });
  const relay = await createRelay({ ...options, storage, logger });
  command.out(`holdfast relay listening on ${relay.url}\n`);
  await command.untilAsked();
  await relay.close();
  return 0;
}

const text = { type: "string" } as const;
const texts = { type: "string", multiple: true } as const;

function relayOptions(
  args: readonly string[],
  env: CommandProcess["env"],
): RelayOptions & { readonly data: string } {
  const given = parse(args, {
    port: text,
    host: text,
    data: text,
    "jwt-secret": text,
    "jwt-public-key": text,
    "jwks-url": text,
    "jwt-issuer": text,
    "jwt-audience": text,
    origin: texts,
    durability: text,
    limit: texts,
  });
  const { durability = "power", data = DEFAULT_DATA } = given;
  if (durability !== "power" && durability !== "process") {
    throw new UsageError("--durability is power or process");
  }
  const publicKey = given["jwt-public-key"];
  const jwksUrl = given["jwks-url"];
  // What the command line names comes before what stands in the environment.
  const named = publicKey !== undefined || jwksUrl !== undefined;
  const secret = given["jwt-secret"] ?? (named ? undefined : env.HOLDFAST_JWT_SECRET);
  const jwt = {
    secret,
    publicKey: publicKey === undefined ? undefined : readKey(publicKey),
    jwksUrl,
    issuer: given["jwt-issuer"],
    audience: given["jwt-audience"],
  };
  const checksTokens = secret !== undefined || named;
  return {
    ...(given.port === undefined ? {} : { port: numberOf(given.port, "--port") }),
    host: given.host,
    jwt: checksTokens ? jwt : undefined,
    origins: given.origin,
    durability,
    limits: limitsOf(given.limit ?? []),
    data,
  };
}

async function runToken(args: readonly string[], command: CommandProcess): Promise<number> {
  const given = parse(args, { actor: text, "jwt-secret": text, ttl: text });
  const secret = given["jwt-secret"] ?? command.env.HOLDFAST_JWT_SECRET;
  if (given.actor === undefined) throw new UsageError("--actor says whom the token speaks for");
  if (secret === undefined || secret === "") throw new UsageError("--jwt-secret signs the token");
  checkSecret(secret);
  const ttlS = numberOf(given.ttl ?? "3600", "--ttl");
  if (ttlS === 0) throw new UsageError("--ttl is at least 1 second");
  const nowS = Math.floor(command.nowMs() / 1000);
  const token = await new SignJWT()
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(checkId(given.actor, "--actor"))
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + ttlS)
    .sign(new TextEncoder().encode(secret));
  command.out(`${token}\n`);
  return 0;
}

function runCheck(args: readonly string[], command: CommandProcess): number {
  const { data = DEFAULT_DATA } = parse(args, { data: text });
  const path = join(data, DATABASE);
  const problems = checkSqliteFile(path);
  if (problems.length === 0) command.out(`${path} is sound\n`);
  for (const problem of problems) command.err(`holdfast: ${path}: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>["options"]>;

function parse<T extends Options>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ options: T; args: string[] }>>["values"] {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOf(value: string, name: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`${name} is a whole number, not ${value}`);
  return Number(value);
}

function limitsOf(given: readonly string[]): Partial<RelayLimits> {
  return Object.fromEntries(
    given.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name, numberOf(value.join("="), `--limit ${name}`)];
    }),
  );
}

function readKey(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`--jwt-public-key ${path} cannot be read: ${String(error)}`);
  }
}

function makeFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
    return path;
  } catch (error) {
    throw new UsageError(`--data ${path} cannot be made: ${String(error)}`);
  }
}
