import type { Client } from "../../src/client.ts";
import { StorageError } from "../../src/model/errors.ts";
import { openClient } from "../../src/open-client.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import type { TestCable } from "../../src/testing/network.ts";
import { TestPage } from "../../src/testing/page.ts";
import { type TestTab, TestTabs } from "../../src/testing/tabs.ts";
import { DiskTrouble, failing } from "./failing-disk.ts";
import { FenceWatch } from "./fence-watch.ts";
import { Mortal, mortalClock, mortalSockets } from "./mortal.ts";
import type { World } from "./world.ts";

export const ACTOR = "ada";
export const SESSION = "talk";
/** A session that is also deleted now and then. */
export const SIDE = "side";

/** What of a tab the steps work with. */
export interface Writer {
  readonly name: string;
  readonly session: SyncedSession;
  readonly disk: MemoryDisk;
  readonly trouble: DiskTrouble;
}

interface OpenTab {
  readonly client: Client;
  readonly database: MemoryDatabase<SyncRows>;
  readonly tab: TestTab;
  readonly page: TestPage;
  readonly life: Mortal;
}

/** A further tab of a device: another client over the same disk and the same cable. */
export type SecondTab = Writer & OpenTab;

/** One browser: a disk that survives reloads, a cable, and the client that runs now. */
export class Device {
  readonly name: string;
  readonly cable: TestCable;
  page = new TestPage();
  readonly disk = new MemoryDisk();
  readonly profile: TestTabs;
  /** What goes wrong with the disk. */
  readonly trouble: DiskTrouble;
  readonly fence: FenceWatch;
  tab!: TestTab;
  /** That of the tab that runs now. */
  life = new Mortal();
  second: SecondTab | undefined;
  /** Tabs that died at the call that was drawn for them. */
  deaths = 0;
  readonly #world: World;
  #lives = 0;
  #starting: Promise<void> | undefined;
  #opening: Promise<SecondTab> | undefined;
  database!: MemoryDatabase<SyncRows>;
  client!: Client;
  session!: SyncedSession;
  /** Stays open while the session it is for is deleted and begun anew. */
  side!: SyncedSession;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    this.cable = world.network.cable();
    this.profile = new TestTabs(world.clock);
    this.fence = new FenceWatch(this.disk, world.clock);
    this.trouble = new DiskTrouble(world.random.fork(`disk ${name}`), world.clock);
    this.cable.watch(({ direction, data }) => world.note(`${name} ${direction}`, data));
  }

  /** Opens the page; once, however many ask for it. */
  start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    Object.assign(this, await this.#open());
    this.session = this.client.session(SESSION);
    this.side = this.client.session(SIDE);
    this.#observe(this.session);
  }

  /** Opens the page; one whose disk fails is loaded again. */
  async #open(): Promise<OpenTab> {
    const { clock, seed } = this.#world;
    for (;;) {
      this.#lives += 1;
      const life = new Mortal();
      const tab = this.profile.open();
      const page = new TestPage();
      const own = testEnvironment({
        page,
        tabs: tab,
        seed: seed * 10_000 + this.name.charCodeAt(0) * 100 + this.#lives,
      });
      const sent = (data: string | Uint8Array): void => this.fence.sends(data, own.reporter);
      const env = {
        ...own,
        clock: mortalClock(clock, life),
        sockets: mortalSockets(this.cable, life, sent),
      };
      const database = new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk: this.disk });
      life.onDeath(() => {
        if (life.doomed) this.deaths += 1;
        database.kill();
        tab.kill();
      });
      try {
        const options = { url: "ws://relay", actorId: ACTOR };
        const client = await openClient(options, { env, database: failing(database, life, this.trouble) });
        return { client, database, tab, page, life };
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        life.die();
        await new Promise<void>((resolve) => clock.after(100, resolve));
      }
    }
  }

  /** Opens another tab, unless there is one. */
  async openSecond(): Promise<SecondTab> {
    if (this.second?.life.dead === false) return this.second;
    this.#opening ??= this.#openSecond().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openSecond(): Promise<SecondTab> {
    const { disk, trouble } = this;
    const opened = await this.#open();
    const session = opened.client.session(SESSION);
    this.second = { ...opened, session, name: `${this.name}2`, disk, trouble };
    return this.second;
  }

  killSecond(): void {
    this.second?.life.die();
    this.second = undefined;
  }

  /** What was seen that must never be seen: a message twice, or one whose delivery went backwards. */
  readonly sights: string[] = [];

  #observe({ messages }: SyncedSession): void {
    const confirmed = new Set<string>();
    messages.subscribe(() => {
      const ids = new Set<string>();
      for (const { message, delivery } of messages.entries) {
        if (ids.has(message.id)) this.sights.push(`${this.name} saw ${message.id} twice`);
        ids.add(message.id);
        if (delivery === "confirmed") confirmed.add(message.id);
        else if (delivery === "rejected" && confirmed.has(message.id)) {
          this.sights.push(`${this.name} saw ${message.id} rejected after it was confirmed`);
        }
      }
    });
  }

  /** The tab is killed in the middle of whatever it does, and opened again on what is on disk. */
  async reload(): Promise<void> {
    this.life.die();
    this.cable.drop();
    await this.start();
  }

  /** Opens again what has died. */
  async revive(): Promise<void> {
    await Promise.all([this.#starting, this.#opening]);
    if (this.second?.life.dead === true) this.second = undefined;
    if (this.life.dead) await this.start();
  }

  /** No more trouble from here on. */
  async heal(): Promise<void> {
    this.trouble.end();
    this.life.spare();
    this.second?.life.spare();
    await this.revive();
    this.tab.thaw();
    this.cable.heal();
    this.cable.delayMs = 0;
    this.cable.duplicateOps = 0;
    this.page.signal("online");
  }
}
