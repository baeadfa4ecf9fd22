import type { Environment } from "../env/environment.ts";
import type { Tabs } from "../env/tabs.ts";
import { HoldfastError, StorageError } from "../model/errors.ts";
import { FencedError, fencedDatabase } from "../store/fenced-database.ts";
import type { ToldDatabase } from "../store/told-database.ts";
import { Connection, type LinkNews, NEVER, NOT_YET } from "./connected.ts";
import { Leader } from "./leader.ts";
import type { TokenSource } from "./link.ts";
import type { Replicas } from "./replicas.ts";
import type { StatusBoard } from "./status.ts";
import { TabLine } from "./tab-news.ts";
import { TabQuestions } from "./tab-questions.ts";
import { Unheard } from "./unheard.ts";
import { Uplink, type UplinkStatus } from "./uplink.ts";

export interface TabLeadOptions {
  readonly url: string;
  readonly actorId: string;
  readonly token: TokenSource;
  /** Names the database among the tabs. */
  readonly name: string;
  readonly env: Environment;
  readonly tabs: Tabs;
  readonly db: ToldDatabase;
  readonly replicas: Replicas;
  /** The sessions that are open in this tab. */
  readonly open: () => Iterable<string>;
  readonly board: StatusBoard;
  readonly newId: () => string;
  /** Another tab is about to delete the database. */
  readonly wiped: () => void;
}

/** This tab among the others: leads and then connects for all, or follows; and tells the same status either way. */
export class TabLead {
  /** What the connection is to this tab's sessions, whichever tab holds it. */
  readonly connection: Connection;
  readonly #options: TabLeadOptions;
  readonly #line: TabLine;
  readonly #questions: TabQuestions;
  readonly #leader: Leader;
  readonly #unheard: Unheard;
  readonly #leavePage: () => void;
  #uplink: Uplink | undefined;
  /** What the uplink told last. */
  #news: LinkNews = NOT_YET;
  /** The last lead that this tab knew of, its own or another's. */
  #heard = 0;
  #left = false;
  /** The connections that were given up are gone: only then a new one may use what they used. */
  #parted: Promise<void> = Promise.resolve();

  constructor(options: TabLeadOptions) {
    const { env, tabs, name, db, newId, board } = options;
    this.#options = options;
    const own = () => this.#uplink?.requests;
    this.#questions = new TabQuestions({ tabs, clock: env.clock, name, newId, own });
    this.connection = new Connection(env.clock, this.#questions);
    this.#line = new TabLine(tabs, name, {
      told: (news, epoch) => {
        if (this.#left || this.#leader.leading || epoch < this.#leader.latestEpoch) return;
        // What the one before did last, it may not have told.
        if (this.#heard !== 0 && epoch !== this.#heard) this.#mayHaveMissed();
        this.#heard = epoch;
        const { link, lastSyncedAt, lastError } = news;
        this.connection.tell(news);
        board.set({ link, lastSyncedAt, lastError });
      },
      failed: (lastError) => {
        if (!this.#left) board.set({ lastError });
      },
      asked: () => this.#tellTabs(),
      reconnect: () => this.#uplink?.reconnect(),
      wiped: options.wiped,
    });
    this.#leader = new Leader({
      name,
      tab: newId(),
      env: { ...env, tabs },
      db,
      events: {
        onLead: (epoch) => this.#lead(epoch),
        onLose: () => this.#follow(),
        // What it told last may no longer be so.
        onDoubt: (silent) => (silent ? this.#notYet() : this.ask()),
      },
    });
    const due = (): boolean => this.#leader.leading || env.page.visible;
    this.#unheard = new Unheard({ db, clock: env.clock, due, open: options.open });
    this.#leavePage = env.page.watch((signal) => {
      if (signal !== "visible" && signal !== "resume" && signal !== "pageshow") return;
      // While it slept it heard nothing.
      this.#mayHaveMissed();
      this.ask();
    });
  }

  /** Asks the leading tab what it has to tell; it leads itself, or nobody does, when no answer comes. */
  ask(): void {
    if (!this.#leader.leading) this.#line.say("ask");
  }

  reconnect(): void {
    if (this.#uplink === undefined) this.#line.say("reconnect");
    else this.#uplink.reconnect();
  }

  /** The database is a new one: who leads begins anew, with an epoch of it. */
  renewed(): void {
    const { epoch } = this.#leader;
    if (epoch !== undefined) this.#leader.fenced(epoch);
    this.connection.renewed();
  }

  tellWipe(): void {
    this.#line.say("wipe");
  }

  /** Something failed here: all tabs say so. */
  failed(error: unknown): void {
    // The leader has been told already, and steps down.
    if (error instanceof FencedError) return;
    const { env, board } = this.#options;
    env.reporter.report("error", "client.failed", {
      error: error instanceof Error ? error.message : String(error),
    });
    const lastError =
      error instanceof HoldfastError
        ? error
        : new StorageError("The local database failed", { reason: "failed", cause: error });
    board.set({ lastError });
    this.#line.tellFailed(lastError);
  }

  /** Neither leads nor follows from here on. Resolves when another tab may lead and nothing is written any more. */
  async leave(): Promise<void> {
    this.#left = true;
    this.connection.tell(NEVER);
    this.#leavePage();
    this.#unheard.close();
    await this.#leader.close();
    await this.#parted;
  }

  close(): void {
    this.#line.close();
    this.#questions.close();
  }

  #lead(epoch: number): void {
    this.#options.board.set({ leader: true });
    this.#notYet();
    this.#tellTabs();
    this.#heard = epoch;
    this.#mayHaveMissed();
    void this.#parted.then(() => {
      if (this.#leader.epoch === epoch) this.#connect(epoch);
    });
  }

  #connect(epoch: number): void {
    const { url, actorId, token, env, tabs, name, replicas, newId, board } = this.#options;
    const failed = (error: unknown): void => this.failed(error);
    this.#uplink = new Uplink({
      url,
      actorId,
      device: newId(),
      token,
      env,
      tabs,
      name,
      db: fencedDatabase(this.#options.db, epoch, () => this.#leader.fenced(epoch)),
      replicas,
      newId,
      changed: (status) => this.#linkChanged(status),
      synced: () => {
        board.set({ lastSyncedAt: new Date(env.clock.now()).toISOString() });
        this.#tellTabs();
      },
      failed,
    });
  }

  #follow(): void {
    const uplink = this.#uplink;
    this.#uplink = undefined;
    this.#options.board.set({ leader: false });
    if (!this.#left) {
      // Whoever leads next says what is so.
      this.#notYet();
      this.ask();
    }
    // Its socket is closed when this returns: a page that is about to freeze does nothing later.
    const parting = uplink?.close();
    this.#parted = Promise.allSettled([this.#parted, parting]).then(([, ended]) => {
      if (ended.status === "rejected") this.failed(ended.reason);
    });
  }

  /** Other tabs may have written what this one was not told. */
  #mayHaveMissed(): void {
    this.#options.board.doubt();
    this.#unheard.everything();
  }

  #notYet(): void {
    this.#news = NOT_YET;
    this.connection.tell(NOT_YET);
    this.#options.board.set({ link: NOT_YET.link });
  }

  #linkChanged({ link, fresh, lastError }: UplinkStatus): void {
    this.#news = { link, fresh, troubled: lastError !== undefined };
    this.connection.tell(this.#news, this.#uplink?.requests);
    this.#options.board.set({ link, lastError });
    this.#tellTabs();
  }

  #tellTabs(): void {
    const { epoch } = this.#leader;
    if (epoch === undefined) return;
    const { lastSyncedAt, lastError } = this.#options.board.status;
    this.#line.tell({ ...this.#news, lastSyncedAt, lastError }, epoch);
  }
}
