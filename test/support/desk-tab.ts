import { expect } from "vitest";
import type { Tab } from "./engines/engine.ts";
import type { Profile } from "./engines.ts";
import type { SeenLine } from "./page/desk.ts";
// Declares what the page puts on its window.
import type {} from "./page/main.ts";
import type { WritingOptions } from "./page/writer.ts";
import { until } from "./until.ts";

/** Polls end at the first success; this only bounds a failing run on a busy machine. */
export const soon = { timeout: 60_000 };

/** Where a tab finds the test page and its relay. An application name of its own separates tests on one profile. */
export interface DeskPlace {
  readonly site: string;
  /** The relay, or the cable to it. */
  readonly url: string;
  readonly actorId: string;
  readonly name?: string;
  /** What a recorder on the way to the relay calls this tab. */
  readonly tab?: string;
}

/** A tab of any engine with the test page's small application in it. */
export class DeskTab {
  readonly tab: Tab;
  readonly #place: DeskPlace;

  private constructor(tab: Tab, place: DeskPlace) {
    this.tab = tab;
    this.#place = place;
  }

  static async open(profile: Profile, place: DeskPlace): Promise<DeskTab> {
    const desk = new DeskTab(await profile.openTab(place.site), place);
    await desk.#begin();
    return desk;
  }

  /** Loads the page again: what it held is gone, what is on disk is not. */
  async reload(): Promise<void> {
    await this.tab.goto(this.#place.site);
    await this.#begin();
  }

  async #begin(): Promise<void> {
    await untilReady(this.tab);
    const { site: _, ...options } = this.#place;
    await this.tab.run((given) => window.desk.open(given), options);
    const { storage } = await this.status();
    if (storage === "memory") throw new Error("The client found no IndexedDB, and would keep nothing.");
  }

  /** Each text is an append of its own; resolves with the ids when all are committed. */
  say(session: string, ...texts: string[]): Promise<string[]> {
    return this.tab.run(([id, all]) => window.desk.say(id, all), [session, texts] as const);
  }

  texts(session: string): Promise<string[]> {
    return this.tab.run((id) => window.desk.texts(id), session);
  }

  /** What the live window shows. The first look opens it. */
  seen(session: string): Promise<SeenLine[]> {
    return this.tab.run((id) => window.desk.seen(id), session);
  }

  serialized(session: string) {
    return this.tab.run((id) => window.desk.serialized(id), session);
  }

  state(session: string) {
    return this.tab.run((id) => window.desk.state(id), session);
  }

  setState(session: string, key: string, value: string): Promise<void> {
    return this.tab.run(([id, at, to]) => window.desk.setState(id, at, to), [session, key, value] as const);
  }

  /** Begins to write without end, with a witness. */
  startWriting(options: WritingOptions): Promise<void> {
    return this.tab.run((given) => window.writer.start(window.desk.session(given.session), given), options);
  }

  stopWriting(): Promise<void> {
    return this.tab.run(() => window.writer.stop());
  }

  /** Ids of the messages of a session, in order. */
  ids(session: string): Promise<string[]> {
    return this.tab.run(
      async (id) => (await window.desk.session(id).history()).map((one) => one.id),
      session,
    );
  }

  status() {
    return this.tab.run(() => window.desk.status());
  }

  reconnect(): Promise<void> {
    return this.tab.run(() => window.desk.reconnect());
  }

  /** Everything reaches the relay. */
  async flush(): Promise<void> {
    expect(await this.tab.run(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
  }

  async untilOnline(): Promise<void> {
    await until("online", async () => (await this.status()).link === "online");
  }
}

export async function untilReady(tab: Tab): Promise<void> {
  await until("the page has loaded", () => tab.run(() => document.documentElement.dataset.ready === "true"));
}
