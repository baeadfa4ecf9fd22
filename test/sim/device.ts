import type { Client } from "../../src/client.ts";
import { openClient } from "../../src/open-client.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import type { TestCable } from "../../src/testing/network.ts";
import { TestPage } from "../../src/testing/page.ts";
import { type TestTab, TestTabs } from "../../src/testing/tabs.ts";
import type { World } from "./world.ts";

export const ACTOR = "ada";
export const SESSION = "talk";
/** A session that is also deleted now and then. */
export const SIDE = "side";

/** What of a tab the steps work with. */
export interface Writer {
  readonly name: string;
  readonly session: SyncedSession;
}

/** A further tab of a device: another client over the same disk and the same cable. */
export interface SecondTab extends Writer {
  readonly client: Client;
  readonly database: MemoryDatabase<SyncRows>;
  readonly tab: TestTab;
}

/** One browser: a disk that survives reloads, a cable, and the client that runs now. */
export class Device {
  readonly name: string;
  readonly cable: TestCable;
  page = new TestPage();
  readonly disk = new MemoryDisk();
  readonly profile: TestTabs;
  tab!: TestTab;
  second: SecondTab | undefined;
  readonly #world: World;
  #lives = 0;
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
    this.cable.watch(({ direction, data }) => world.note(`${name} ${direction}`, data));
  }

  async start(): Promise<void> {
    this.page = new TestPage();
    const { client, database, tab } = await this.#open(this.page);
    this.client = client;
    this.database = database;
    this.tab = tab;
    this.session = client.session(SESSION);
    this.side = this.client.session(SIDE);
    this.#observe(this.session);
  }

  async #open(page: TestPage): Promise<Pick<SecondTab, "client" | "database" | "tab">> {
    this.#lives += 1;
    const { clock, seed } = this.#world;
    const tab = this.profile.open();
    const env = testEnvironment({
      clock,
      page,
      tabs: tab,
      sockets: this.cable,
      seed: seed * 10_000 + this.name.charCodeAt(0) * 100 + this.#lives,
    });
    const database = new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk: this.disk });
    const client = await openClient({ url: "ws://relay", actorId: ACTOR }, { env, database });
    return { client, database, tab };
  }

  /** Opens another tab, unless there is one. */
  async openSecond(): Promise<SecondTab> {
    if (this.second !== undefined) return this.second;
    const opened = await this.#open(new TestPage());
    const session = opened.client.session(SESSION);
    this.second = { ...opened, session, name: `${this.name}2` };
    return this.second;
  }

  async killSecond(): Promise<void> {
    const { second } = this;
    this.second = undefined;
    if (second === undefined) return;
    second.database.kill();
    second.tab.kill();
    await second.client.close();
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
    this.database.kill();
    this.tab.kill();
    this.cable.drop();
    await this.client.close();
    await this.start();
  }
}
