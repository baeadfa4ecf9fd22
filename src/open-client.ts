import { Client } from "./client.ts";
import { browserEnvironment } from "./env/browser.ts";
import type { Environment } from "./env/environment.ts";
import type { WebSocketClass } from "./env/socket.ts";
import { InvalidInputError, StorageError } from "./model/errors.ts";
import { checkId } from "./model/ids.ts";
import { readObject } from "./session/session-arguments.ts";
import type { LocalDatabase } from "./store/database.ts";
import { DexieDatabase } from "./store/dexie-database.ts";
import { MemoryDatabase } from "./store/memory-database.ts";
import { checkSchema } from "./store/schema-version.ts";
import { SYNC_SCHEMA, SYNC_SCHEMA_VERSION, type SyncRows } from "./store/sync-rows.ts";
import type { StorageStatus } from "./sync/status.ts";

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
}

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
  const { db, storage } = await openDatabase(name, options, env, surroundings.database);
  const client = new Client({ url, actorId, token: options.token, name, env, db, storage });
  await client.begin();
  return client;
}

interface OpenDatabase {
  readonly db: LocalDatabase<SyncRows>;
  readonly storage: StorageStatus;
}

async function openDatabase(
  name: string,
  options: ClientOptions,
  env: Environment,
  given: LocalDatabase<SyncRows> | undefined,
): Promise<OpenDatabase> {
  if (given !== undefined)
    return marked({ db: given, storage: options.storage === "memory" ? "memory" : "best-effort" });
  if (options.storage === "memory")
    return marked({ db: new MemoryDatabase<SyncRows>(SYNC_SCHEMA), storage: "memory" });
  const db = new DexieDatabase<SyncRows>(SYNC_SCHEMA, { name, version: SYNC_SCHEMA_VERSION, tabs: env.tabs });
  try {
    return await marked({ db, storage: "best-effort" });
  } catch (error) {
    if (!(error instanceof StorageError) || error.reason === "upgrade-required") throw error;
    env.reporter.report("error", "client.memory", { reason: error.reason });
    return marked({ db: new MemoryDatabase<SyncRows>(SYNC_SCHEMA), storage: "memory" });
  }
}

async function marked(open: OpenDatabase): Promise<OpenDatabase> {
  await checkSchema(open.db);
  return open;
}

function checked(options: ClientOptions): { readonly actorId: string; readonly url: string } {
  const { url, storage, token, name, WebSocket } = readObject(options, "options");
  if (typeof url !== "string" || !/^wss?:\/\/./u.test(url) || !isAddress(url)) {
    throw new InvalidInputError("url must be an address that begins with ws:// or wss://", { path: "url" });
  }
  if (token !== undefined && typeof token !== "function" && (typeof token !== "string" || token === "")) {
    throw new InvalidInputError("token must be a text that is not empty, or a function", { path: "token" });
  }
  if (name !== undefined && typeof name !== "string") {
    throw new InvalidInputError("name must be a text", { path: "name" });
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
