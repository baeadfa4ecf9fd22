import { Client, type ClientParts } from "./client.ts";
import { browserEnvironment } from "./env/browser.ts";
import type { Environment } from "./env/environment.ts";
import type { WebSocketClass } from "./env/socket.ts";
import { InvalidInputError, StorageError } from "./model/errors.ts";
import { checkId } from "./model/ids.ts";
import { readObject } from "./session/session-arguments.ts";
import type { LocalDatabase } from "./store/database.ts";
import { DexieDatabase } from "./store/dexie-database.ts";
import type { DexieDatabaseOptions } from "./store/dexie-options.ts";
import { MemoryDatabase } from "./store/memory-database.ts";
import { openSchema, upgradeRows } from "./store/migrations.ts";
import { RenewedDatabase } from "./store/renewed-database.ts";
import { SYNC_SCHEMA, SYNC_SCHEMA_VERSION, type SyncRows } from "./store/sync-rows.ts";
import type { StorageNews } from "./sync/status.ts";

/** Whose sessions, which relay, and what the platform does not have by itself: what {@link openClient} takes. */
export interface ClientOptions {
  /** The relay's address: `ws://…` or `wss://…`. */
  readonly url: string;
  /** Whose sessions: names the local database. The relay's welcome must be for the same actor, or nothing is exchanged. */
  readonly actorId: string;
  /** The token, or where to get one; asked again whenever the relay says that one has expired. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Separates applications on one origin. */
  readonly name?: string | undefined;
  /** `indexeddb` by default; `memory` keeps nothing beyond the client's life. Where IndexedDB cannot be had it is memory, and the status says so. */
  readonly storage?: "indexeddb" | "memory" | undefined;
  /** Where the platform has none of its own (Node 20). */
  readonly WebSocket?: WebSocketClass | undefined;
}

/** What stands in for the platform in tests and in unusual hosts. */
export interface ClientSurroundings {
  readonly env?: Environment | undefined;
  readonly database?: LocalDatabase<SyncRows> | undefined;
  /** IndexedDB, where it is not the platform's own. */
  readonly indexedDB?: Pick<DexieDatabaseOptions, "indexedDB" | "IDBKeyRange"> | undefined;
}

/** How long another tab may take to close an older version of the database before the status says `blocked`. */
const BLOCKED_AFTER_MS = 2_000;

/**
 * Opens an actor's sessions on this device and connects them to the relay. Resolves when the local database is open,
 * with or without a network; what the connection does, `client.status` tells.
 * @throws InvalidInputError for options that make no sense.
 * @throws StorageError `upgrade-required` when the local database was written by newer code.
 */
export async function openClient(
  options: ClientOptions,
  surroundings: ClientSurroundings = {},
): Promise<Client> {
  const { actorId, url } = checked(options);
  const env = surroundings.env ?? browserEnvironment({ WebSocket: options.WebSocket });
  const name = ["holdfast", options.name ?? "", url, actorId].map(encodeURIComponent).join("/");
  const opened = await openDatabase(name, options, env, surroundings);
  const { storage } = opened;
  const client = new Client({ url, actorId, token: options.token, name, env, ...opened });
  // A database that another tab holds up opens when that tab lets go; until then whatever is asked of it waits.
  const begun = client.begin();
  if (storage !== "blocked") {
    await begun.catch(async (error: unknown) => {
      // What went wrong first is what is told.
      await client.close().catch(() => undefined);
      throw error;
    });
  } else begun.catch(() => env.reporter.report("info", "client.never-unblocked"));
  return client;
}

type OpenDatabase = Pick<ClientParts, "db" | "storage" | "watchStorage" | "renewal">;

async function openDatabase(
  name: string,
  options: ClientOptions,
  env: Environment,
  surroundings: ClientSurroundings,
): Promise<OpenDatabase> {
  const given = surroundings.database;
  if (given !== undefined) {
    await openSchema(given);
    return { db: given, storage: options.storage === "memory" ? "memory" : "best-effort" };
  }
  if (options.storage === "memory") return inMemory();
  try {
    return await openStored(name, env, surroundings);
  } catch (error) {
    if (!(error instanceof StorageError) || error.reason === "upgrade-required") throw error;
    env.reporter.report("error", "client.memory", { reason: error.reason });
    return inMemory();
  }
}

async function inMemory(): Promise<OpenDatabase> {
  const db = new MemoryDatabase<SyncRows>(SYNC_SCHEMA);
  await openSchema(db);
  return { db, storage: "memory" };
}

/** Opens the database and brings its rows up to date, or tells after a while that another tab holds that up (C13). */
async function openStored(
  name: string,
  env: Environment,
  { indexedDB }: ClientSurroundings,
): Promise<OpenDatabase> {
  let told: StorageNews[] = [];
  let tell = (news: StorageNews, _renews?: boolean): void => void told.push(news);
  let blocked = (): void => undefined;
  const heldUp = new Promise<"blocked">((resolve) => {
    blocked = () => void env.clock.after(BLOCKED_AFTER_MS, () => resolve("blocked"));
  });
  const { clock, tabs, page } = env;
  const options = { name, version: SYNC_SCHEMA_VERSION, tabs, clock, page, blocked, ...indexedDB };
  const db = new RenewedDatabase({
    make: (lost) => new DexieDatabase<SyncRows>(SYNC_SCHEMA, { ...options, lost }),
    begin: (tx) => upgradeRows(tx),
    clock,
    lost: (error, renews) => tell(lostBy(error), renews),
  });
  const watchStorage: ClientParts["watchStorage"] = (listener) => {
    for (const news of told) listener(news);
    told = [];
    tell = listener;
  };
  const opening = openSchema(db);
  const first = await Promise.race([opening, heldUp]).catch(async (error: unknown) => {
    // It may still open, late: then it is let go of, and what it holds is there at the next start.
    await db.close();
    throw error;
  });
  if (first !== "blocked") return { db, storage: "best-effort", watchStorage, renewal: db };
  const ended = async (error: unknown): Promise<void> => {
    // Nothing may be written where the rows are not of this version.
    await db.close();
    if (error instanceof StorageError) tell(lostBy(error));
  };
  opening.then(() => tell({ storage: "best-effort" }), ended);
  return { db, storage: "blocked", watchStorage, renewal: db };
}

function lostBy(error: StorageError): StorageNews {
  const { reason } = error;
  if (reason === "upgrade-required") return { storage: reason, lastError: error, link: "closed" };
  return { storage: reason === "reset" ? reason : "blocked", lastError: error };
}

/** Half a surrogate pair: no name of a database can hold it. */
const HALF = /\p{Surrogate}/u;

function checked(options: ClientOptions): { readonly actorId: string; readonly url: string } {
  const { url, storage, token, name, WebSocket } = readObject(options, "options");
  if (typeof url !== "string" || !/^wss?:\/\/./u.test(url) || HALF.test(url) || !isAddress(url)) {
    throw new InvalidInputError("url must be an address that begins with ws:// or wss://", { path: "url" });
  }
  if (token !== undefined && typeof token !== "function" && (typeof token !== "string" || token === "")) {
    throw new InvalidInputError("token must be a text that is not empty, or a function", { path: "token" });
  }
  if (name !== undefined && (typeof name !== "string" || HALF.test(name))) {
    throw new InvalidInputError("name must be a text without half a surrogate pair", { path: "name" });
  }
  if (WebSocket !== undefined && typeof WebSocket !== "function") {
    throw new InvalidInputError("WebSocket must be a class", { path: "WebSocket" });
  }
  if (storage !== undefined && storage !== "indexeddb" && storage !== "memory") {
    throw new InvalidInputError('storage must be "indexeddb" or "memory"', { path: "storage" });
  }
  return { actorId: checkId(options.actorId, "actorId"), url };
}

function isAddress(url: string): boolean {
  try {
    return new URL(url).host !== "";
  } catch {
    // The caller says so by name.
    return false;
  }
}
