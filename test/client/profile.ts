// One browser profile with many tabs, and what is to be seen of them from outside: who led, who sent, who says what.
import type { Client } from "../../src/client.ts";
import { openClient } from "../../src/open-client.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import type { ClientStatus } from "../../src/sync/status.ts";
import { type TestEnvironment, testEnvironment } from "../../src/testing/environment.ts";
import type { TestCable } from "../../src/testing/network.ts";
import { TestPage } from "../../src/testing/page.ts";
import { type TestTab, TestTabs } from "../../src/testing/tabs.ts";
import { ACTOR, SESSION } from "../sim/device.ts";
import type { World } from "../sim/world.ts";

const OP_TYPES = new Set(["append", "replace", "edit", "delete"]);

export interface ProfileTab {
  readonly name: string;
  readonly tab: TestTab;
  readonly client: Client;
  readonly session: SyncedSession;
  readonly database: MemoryDatabase<SyncRows>;
  readonly cable: TestCable;
  readonly env: TestEnvironment;
  /** `deaf`: left behind without knowing it, clock and network go on. `asleep`: its page was told. */
  condition: "awake" | "deaf" | "asleep" | "gone";
}

export class Profile {
  readonly disk = new MemoryDisk();
  readonly tabs: ProfileTab[] = [];
  /** What must never be seen. */
  readonly sights: string[] = [];
  /** Op frames that left any tab. */
  sent = 0;
  readonly #world: World;
  readonly #profile: TestTabs;
  readonly #locks: boolean;
  readonly #senders = new Map<number, string>();
  /** When each epoch was over, by the clock. */
  readonly #over = new Map<number, number>();
  #epoch = 0;

  constructor(world: World, options: { readonly locks: boolean }) {
    this.#world = world;
    this.#locks = options.locks;
    this.#profile = new TestTabs(world.clock);
    const meta = new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk: this.disk });
    meta.watch(({ tables }) => {
      if (tables.has("meta")) this.#look();
    });
  }

  /** The lead that stands in the database; 0 before the first. */
  get epoch(): number {
    return this.#epoch;
  }

  async open(): Promise<ProfileTab> {
    const { clock, network, seed } = this.#world;
    const tab = this.#profile.open({ locks: this.#locks });
    const cable = network.cable();
    const name = `tab ${this.tabs.length}`;
    const env = testEnvironment({
      clock,
      page: new TestPage(),
      sockets: cable,
      tabs: tab,
      seed: seed * 1_000 + this.tabs.length,
    });
    const database = new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk: this.disk });
    const client = await openClient({ url: "ws://relay", actorId: ACTOR }, { env, database });
    const session = client.session(SESSION);
    const opened: ProfileTab = {
      name,
      tab,
      client,
      session,
      database,
      cable,
      env,
      condition: "awake",
    };
    this.tabs.push(opened);
    cable.watch(({ direction, data }) => {
      if (direction !== "up" || typeof data !== "string") return;
      if (OP_TYPES.has((JSON.parse(data) as { type: string }).type)) this.#sends(opened);
    });
    return opened;
  }

  /** Whatever it had not committed by now it never will; its socket ends. */
  kill(tab: ProfileTab): void {
    tab.condition = "gone";
    tab.database.kill();
    tab.tab.kill();
    tab.cable.cut();
    // Of a process that is gone nothing is left that could be waited for.
    void tab.client.close();
  }

  /** The leads that a tab has had. */
  leadsOf({ env }: ProfileTab): number[] {
    return env.reporter.reports
      .filter(({ event }) => event === "leader.leads")
      .map(({ detail }) => Number(detail.epoch));
  }

  /** Epochs that more than one tab has led, or one twice. */
  get doubledEpochs(): number[] {
    const all = this.tabs.flatMap((tab) => this.leadsOf(tab));
    return all.filter((epoch, at) => all.indexOf(epoch) !== at);
  }

  get openSockets(): number {
    return this.tabs.reduce((sum, { cable }) => sum + cable.open, 0);
  }

  #look(): void {
    const row = this.disk.image("meta").rows.find(({ key }) => key[0] === "epoch")?.row;
    const epoch = Number((row as { value?: unknown } | undefined)?.value ?? 0);
    if (epoch === this.#epoch) return;
    this.#over.set(this.#epoch, this.#world.clock.now());
    this.#epoch = epoch;
  }

  #sends(tab: ProfileTab): void {
    this.sent += 1;
    const epoch = this.leadsOf(tab).at(-1);
    if (epoch === undefined) {
      this.sights.push(`${tab.name} sent without ever leading`);
      return;
    }
    const sender = this.#senders.get(epoch) ?? tab.name;
    this.#senders.set(epoch, sender);
    if (sender !== tab.name) this.sights.push(`${sender} and ${tab.name} sent in epoch ${epoch}`);
    // What left in the very moment in which the epoch ended had looked before it ended.
    const overMs = this.#over.get(epoch);
    if (overMs !== undefined && this.#world.clock.now() > overMs)
      this.sights.push(`${tab.name} sent for epoch ${epoch}, which was over`);
  }
}

/** What all tabs must say alike. */
export function shared({ client }: ProfileTab): Omit<ClientStatus, "leader" | "lastError"> & {
  readonly lastError: readonly unknown[];
} {
  const { leader: _, lastError, ...rest } = client.status;
  return { ...rest, lastError: [lastError?.name, lastError?.code, lastError?.message] };
}
