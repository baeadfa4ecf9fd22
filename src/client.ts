import type { Environment } from "./env/environment.ts";
import { standaloneTabs } from "./env/tabs.ts";
import { HoldfastError, StorageError } from "./model/errors.ts";
import { checkId, newId } from "./model/ids.ts";
import type { JsonObject } from "./model/json.ts";
import { readObject } from "./session/session-arguments.ts";
import { SyncedSession } from "./session/synced-session.ts";
import type { LocalDatabase } from "./store/database.ts";
import { deleteErased, wipe } from "./store/erase.ts";
import { refetchHurt, setAsideSessions } from "./store/mend.ts";
import type { RenewedDatabase } from "./store/renewed-database.ts";
import { storageError } from "./store/storage-failure.ts";
import type { SyncRows } from "./store/sync-rows.ts";
import { toldDatabase } from "./store/told-database.ts";
import { unwipedDatabase } from "./store/unwiped-database.ts";
import { ViewCache } from "./store/view-cache.ts";
import { readArchive, writeArchive } from "./sync/archive.ts";
import { Catalog } from "./sync/catalog.ts";
import { type FlushOptions, flush } from "./sync/flush.ts";
import { askToKeep } from "./sync/keep.ts";
import type { TokenSource } from "./sync/link.ts";
import { Rejected } from "./sync/rejected.ts";
import { Replicas } from "./sync/replicas.ts";
import { TabPresence } from "./sync/state-presence.ts";
import { type ClientStatus, StatusBoard, type StorageNews, WIPED, WIPED_ELSEWHERE } from "./sync/status.ts";
import { StreamHub } from "./sync/stream-hub.ts";
import { SyncedStore } from "./sync/synced-store.ts";
import { TabLead } from "./sync/tab-lead.ts";
import { watchWhole } from "./sync/whole.ts";

/** What a client is made of, once its environment and database are there. */
export interface ClientParts {
  readonly url: string;
  readonly actorId: string;
  readonly token?: TokenSource;
  /** Names the database among the tabs. */
  readonly name: string;
  readonly env: Environment;
  readonly db: LocalDatabase<SyncRows>;
  readonly storage: ClientStatus["storage"];
  /** Calls back when what `storage` says has changed, or the database was lost; `renews` when it is begun anew. */
  readonly watchStorage?: (listener: (news: StorageNews, renews?: boolean) => void) => void;
  /** What begins the database anew when it was deleted. */
  readonly renewal?: Pick<RenewedDatabase, "attend" | "forbid">;
}

/** One actor's sessions on this device, and their way to the relay. Made by `openClient`. */
export class Client {
  readonly actorId: string;
  /** The live list of conversations. */
  readonly sessions: Catalog;
  /** What the relay can never accept. */
  readonly rejected: Rejected;
  readonly #parts: ClientParts;
  /** The database itself, for whoever wipes it. */
  readonly #rows: LocalDatabase<SyncRows>;
  readonly #newId: () => string;
  readonly #replicas: Replicas;
  readonly #store: SyncedStore;
  readonly #board: StatusBoard;
  readonly #lead: TabLead;
  readonly #streams: StreamHub;
  readonly #presence: TabPresence;
  readonly #open = new Set<SyncedSession>();
  readonly #cache = new ViewCache();
  /** What the browser promised of the database. */
  #promised: "persisted" | "best-effort" = "best-effort";
  #whole = true;
  readonly #ends: (() => void)[] = [];
  #ending: Promise<void> | undefined;

  /** Prefer `openClient`; this takes what it prepares. The database's `begin` must have been read. */
  constructor(parts: ClientParts) {
    const { env, actorId } = parts;
    const db = toldDatabase(unwipedDatabase(parts.db));
    this.#parts = { ...parts, db };
    this.#rows = parts.db;
    this.actorId = actorId;
    this.#newId = () => newId({ nowMs: env.clock.now(), bytes: (length) => env.random.bytes(length) });
    this.#board = new StatusBoard(db, parts.storage, env.clock);
    const failed = (error: unknown): void => this.#lead.failed(error);
    this.#replicas = new Replicas(db, this.#newId, { clock: env.clock, failed });
    const tabs = parts.storage === "memory" ? standaloneTabs() : env.tabs;
    const { url, token, name } = parts;
    this.#lead = new TabLead({
      url,
      actorId,
      token,
      name,
      env,
      tabs,
      db,
      replicas: this.#replicas,
      open: () => [...this.#open].map(({ id }) => id),
      board: this.#board,
      newId: this.#newId,
      wiped: () => {
        parts.renewal?.forbid();
        void this.#end(() => db.close(), WIPED_ELSEWHERE);
      },
    });
    this.#streams = new StreamHub({ tabs, name, clock: env.clock, newId: this.#newId });
    this.#presence = new TabPresence({ tabs, name, clock: env.clock, replicas: this.#replicas });
    this.#board.subscribe(() => this.#presence.leads(this.#board.status.leader));
    this.#store = new SyncedStore({
      actorId,
      db,
      replicas: this.#replicas,
      presence: this.#presence,
      connected: this.#lead.connection,
      cache: this.#cache,
      clock: env.clock,
      hurt: refetchHurt(db, failed),
      now: () => this.#now(),
      newId: this.#newId,
    });
    this.sessions = new Catalog(db, this.#store, this.#newId);
    this.rejected = new Rejected(db, () => ({ opId: this.#newId(), at: this.#now() }));
    parts.watchStorage?.((news, renews) => this.#storageChanged(news, renews === true));
    parts.renewal?.attend({
      documents: () => this.#replicas.documents(),
      renewed: (rows) => {
        this.#cache.clear();
        this.#replicas.renewed(rows);
        this.#lead.renewed();
        void this.#board.begin();
      },
    });
  }

  /** Reads what the status tells from. */
  async begin(): Promise<void> {
    const findings = await this.#board.begin();
    if (findings.missing || findings.unsound.length > 0) {
      await setAsideSessions(this.#parts.db, findings, this.#now());
      this.#lead.failed(storageError("corrupt"));
    }
    this.#lead.ask();
    const { db, env } = this.#parts;
    if (this.status.storage === "memory") return;
    const asked = askToKeep(db, env.persistence, (promised) => {
      this.#promised = promised;
      this.#tellStorage();
    });
    const watched = watchWhole(db, (whole) => {
      this.#whole = whole;
      this.#tellStorage();
    });
    this.#ends.push(asked, watched);
  }

  /** The present status; another object after each change. */
  get status(): ClientStatus {
    return this.#board.status;
  }

  /** Told after each change of `status`. */
  subscribe(listener: () => void): () => void {
    return this.#board.subscribe(listener);
  }

  /** Opens a session; it need not exist yet. Close it when it is no longer shown. @throws InvalidInputError for a bad id. */
  session(id: string, options: { readonly metadata?: JsonObject | undefined } = {}): SyncedSession {
    this.#mustBeOpen();
    checkId(id, "id");
    const { metadata } = readObject(options, "options");
    const session = new SyncedSession({
      id,
      actorId: this.actorId,
      store: this.#store,
      streams: this.#streams,
      ...(metadata === undefined ? {} : { metadata }),
      closed: () => this.#open.delete(session),
    });
    this.#open.add(session);
    return session;
  }

  /**
   * Waits until everything written here is durable on the relay: `pending` is 0 then. At the time limit (30 s unless
   * told otherwise), and when the signal aborts, it resolves with what is left.
   */
  async flush(options: FlushOptions = {}): Promise<{ readonly pending: number }> {
    this.#mustBeOpen();
    return flush(this.#board, this.#parts.env.clock, readObject(options, "options"));
  }

  /** Connects now instead of after the wait; also after the relay refused. */
  reconnect(): void {
    this.#mustBeOpen();
    this.#lead.reconnect();
  }

  /** All conversations of this device as one file: log, state, metadata. */
  async export(): Promise<Blob> {
    this.#mustBeOpen();
    return writeArchive(this.sessions, (id) => this.session(id));
  }

  /** Takes conversations from a file that `export` made: what is not here yet is added, nothing is replaced. */
  async import(file: Blob): Promise<void> {
    this.#mustBeOpen();
    return readArchive(file, (id, metadata) => this.session(id, { metadata }));
  }

  /**
   * Logs out: deletes all of this actor's data from this device, in every tab. While ops are not on the relay it only
   * tells how many, unless forced.
   */
  async wipe(options: { readonly force?: boolean } = {}): Promise<{ readonly pending: number }> {
    this.#mustBeOpen();
    const { force } = readObject(options, "options");
    // Until the database is open, nobody knows what of it is unsent.
    if (this.status.storage === "blocked" && force !== true) throw storageError("blocked");
    const { env, renewal } = this.#parts;
    return wipe(this.#rows, { clock: env.clock, force: force === true }, () => {
      renewal?.forbid();
      this.#lead.tellWipe();
      return this.#end(() => deleteErased(this.#rows, env.clock), WIPED);
    });
  }

  /** Ends the client in this tab. What is in the outbox stays there for the next one. */
  close(): Promise<void> {
    // What waits for a database that another tab holds up would wait for ever.
    if (this.status.storage === "blocked") void this.#parts.db.close();
    return this.#end(() => this.#parts.db.close());
  }

  #end(last: () => Promise<void>, ended: Partial<ClientStatus> = {}): Promise<void> {
    this.#ending ??= (async () => {
      for (const end of this.#ends) end();
      // Nobody waits for the relay any more; what was being written is.
      this.#lead.connection.close();
      await Promise.allSettled([...this.#open].map((session) => session.close()));
      this.#streams.close();
      this.#presence.close();
      // A step that fails (a listener of a document may throw) keeps none of the others from being taken.
      const steps = [() => this.#lead.leave(), () => this.#replicas.close(), () => this.#lead.close()];
      for (const step of steps) {
        try {
          await step();
        } catch (error) {
          this.#lead.failed(error);
        }
      }
      let told: Partial<ClientStatus> = {};
      try {
        await last();
        told = ended;
      } finally {
        this.#board.close({ link: "closed", leader: false, ...told });
      }
    })();
    return this.#ending;
  }

  #storageChanged(news: StorageNews, renews: boolean): void {
    if (news.storage === "reset") this.#whole = false;
    this.#board.set(news);
    if (renews) return;
    // This tab can only be loaded again: the lock goes to one that can use the database.
    if (news.storage !== "upgrade-required" && news.storage !== "reset") return;
    for (const end of this.#ends) end();
    void this.#lead.leave();
  }

  /** While not all is here again that the database had, it says so; whoever ended for good goes on saying why. */
  #tellStorage(): void {
    const { storage, lastError } = this.status;
    if (!this.#whole) this.#board.set({ storage: "reset", lastError: lastError ?? storageError("reset") });
    else if (storage !== "reset") this.#board.set({ storage: this.#promised });
    else {
      const told = lastError instanceof StorageError && lastError.reason === "reset";
      this.#board.set({ storage: this.#promised, lastError: told ? undefined : lastError });
    }
  }

  #now(): string {
    return new Date(this.#parts.env.clock.now()).toISOString();
  }

  #mustBeOpen(): void {
    if (this.#ending !== undefined) throw new HoldfastError("The client is closed", { code: "closed" });
  }
}
