import type { Clock } from "../env/clock.ts";
import { ConnectionError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { Listeners } from "../store/listeners.ts";
import type { Generation } from "../store/live-store.ts";
import type { SessionRow } from "../store/sync-rows.ts";
import type { LinkStatus } from "./connection-state.ts";
import type { Requests } from "./requests.ts";
import type { Asker } from "./tab-questions.ts";
import type { Connected } from "./until.ts";

/** How long a read waits for a first connection before it tells what is here. */
const FIRST_CONNECTION_MS = 5_000;

/** What a waiting read has to know of the connection. The tab that holds it tells the others. */
export interface LinkNews {
  readonly link: LinkStatus;
  /** The catalog has been read on this connection. */
  readonly fresh: boolean;
  /** An attempt failed. */
  readonly troubled: boolean;
}

/** Nobody is known to hold the connection: somebody may be about to. */
export const NOT_YET: LinkNews = { link: "connecting", fresh: false, troubled: false };
/** Nothing comes from this connection any more. */
export const NEVER: LinkNews = { link: "closed", fresh: false, troubled: true };

/** What the connection is to the store: whether waiting for it makes sense, and its answers. */
export class Connection implements Connected {
  readonly #listeners = new Listeners();
  readonly #otherTabs: Asker;
  readonly #clock: Clock;
  /** Until whoever leads has told, it may be about to connect. */
  #link: LinkStatus = "connecting";
  #fresh = false;
  #patient = true;
  /** The database is a new one: what it lacks comes, by whichever tab. */
  #renewed = false;
  #closed = false;
  #stop: () => void;
  #requests: Requests | undefined;

  /** @param otherTabs asks the tab that holds the connection, when this one does not. */
  constructor(clock: Clock, otherTabs: Asker) {
    this.#otherTabs = otherTabs;
    this.#clock = clock;
    this.#stop = clock.after(FIRST_CONNECTION_MS, () => this.#giveUp());
  }

  /** The present connection, told by whoever holds it; with `requests` when that is this tab. */
  tell(now: LinkNews, requests?: Requests): void {
    this.#link = now.link;
    this.#fresh = now.fresh;
    this.#requests = requests;
    // After a failed attempt nobody waits for the next one.
    if (now.troubled || now.fresh) this.#patient = false;
    this.#listeners.tell();
  }

  /** The database was begun anew: for a while nothing is told as missing. */
  renewed(): void {
    this.#stop();
    this.#stop = this.#clock.after(FIRST_CONNECTION_MS, () => this.#giveUp());
    this.#patient = true;
    this.#renewed = true;
  }

  mayStillCome(row: SessionRow | undefined): boolean {
    const expected = this.#patient && (this.#link === "connecting" || this.#renewed);
    const coming = this.#link === "online" || expected;
    if (!coming) return false;
    if (row === undefined) return !this.#fresh;
    if (row.incarnation === null) return !this.#fresh && row.view.pending === 0;
    return !row.fetched;
  }

  get closed(): boolean {
    return this.#closed;
  }

  watch(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  async generations(session: string, incarnation: string): Promise<readonly Generation[]> {
    const answer = await this.#ask().ask({ type: "list-generations", session, incarnation });
    const generations = [...answer.generations].sort((a, b) => a.generation - b.generation);
    const last = generations.at(-1)?.generation;
    return generations.map((entry) => ({ ...entry, current: entry.generation === last }));
  }

  async generationMessages(
    session: string,
    incarnation: string,
    generation: number,
  ): Promise<readonly JsonObject[]> {
    const messages: JsonObject[] = [];
    for (;;) {
      const from = messages.length;
      const page = await this.#ask().ask({ type: "read-generation", session, incarnation, generation, from });
      for (const { message } of page.messages) messages.push(message as JsonObject);
      if (!page.more || page.messages.length === 0) return messages;
    }
  }

  close(): void {
    this.#closed = true;
    this.#giveUp();
  }

  #ask(): Asker {
    if (this.#requests === undefined) return this.#otherTabs;
    if (this.#link === "online") return this.#requests;
    throw new ConnectionError("That generation is not held on this device, and there is no connection", {
      retryable: true,
    });
  }

  #giveUp(): void {
    this.#stop();
    this.#stop = () => {};
    this.#patient = false;
    this.#renewed = false;
    this.#listeners.tell();
  }
}
