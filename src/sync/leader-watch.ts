import type { Clock } from "../env/clock.ts";
import type { Page } from "../env/page.ts";
import type { Random } from "../env/random.ts";
import type { TabChannel, Tabs } from "../env/tabs.ts";

/** How often a visible tab asks whether the leader lives, in milliseconds. */
export const ASK_MS = 4_000;
/** How long an answer may take. A page that is only throttled answers at once: messages are not. */
export const ANSWER_MS = 3_000;
/** Of several tabs that find the leader silent, the first to have waited this long at most takes over. */
export const PATIENCE_MS = 1_000;
/** A timer that fires so much later than it was set for: it was this tab that slept. */
const LATE_MS = 1_000;

export interface LeaderWatchOptions {
  readonly name: string;
  readonly env: { readonly tabs: Tabs; readonly clock: Clock; readonly random: Random; readonly page: Page };
  /** The epoch, while this tab leads. */
  readonly epoch: () => number | undefined;
  /** The leader does not answer, before `silent` is told; or it does after all. */
  readonly doubted: (silent: boolean) => void;
  /** A tab of a later epoch than this one's has spoken. */
  readonly outranked: () => void;
}

type Said = { readonly say: "ask" } | { readonly say: "leads"; readonly epoch: number };

/**
 * The heartbeat between the tabs. A leader answers whoever asks; a follower that is visible asks, and when the leader
 * stays silent, though this tab itself was awake all the time, says so (C38).
 */
export class LeaderWatch {
  readonly #options: LeaderWatchOptions;
  readonly #channel: TabChannel;
  #stop = (): void => {};
  #silent: (() => void) | undefined;
  #heard = false;
  #latest = 0;
  #doubting = false;

  constructor(options: LeaderWatchOptions) {
    this.#options = options;
    this.#channel = options.env.tabs.channel(`${options.name}/leader`, (data) => this.#hear(data as Said));
  }

  /** The latest epoch that this tab has heard of; 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  /** An epoch that was read in the database. */
  learn(epoch: number): void {
    this.#latest = Math.max(this.#latest, epoch);
  }

  /** Watches until `stop` or until the leader, of the latest epoch, is silent, which ends the watch. */
  start(silent: () => void): void {
    this.stop();
    this.#silent = silent;
    this.#askLater();
  }

  stop(): void {
    this.#stop();
    this.#stop = () => {};
    this.#silent = undefined;
  }

  /** Tells the others who leads now. */
  announce(epoch: number): void {
    this.learn(epoch);
    this.#channel.post({ say: "leads", epoch } satisfies Said);
  }

  close(): void {
    this.stop();
    this.#channel.close();
  }

  #hear(said: Said): void {
    const own = this.#options.epoch();
    if (said.say === "ask") {
      if (own !== undefined) this.announce(own);
      return;
    }
    // One who does not know yet that its epoch is over proves nothing.
    if (said.epoch < this.#latest) return;
    this.learn(said.epoch);
    this.#heard = true;
    this.#doubt(false);
    if (own !== undefined && own < said.epoch) this.#options.outranked();
  }

  #askLater(): void {
    this.#wait(ASK_MS, () => this.#ask());
  }

  #ask(): void {
    if (!this.#options.env.page.visible) {
      this.#askLater();
      return;
    }
    this.#heard = false;
    this.#channel.post({ say: "ask" } satisfies Said);
    this.#wait(ANSWER_MS, () => this.#judge(false));
  }

  #judge(patient: boolean): void {
    const { page, random } = this.#options.env;
    if (this.#heard || !page.visible) {
      this.#askLater();
      return;
    }
    if (!patient) {
      this.#doubt(true);
      this.#wait(Math.ceil(random.fraction() * PATIENCE_MS), () => this.#judge(true));
      return;
    }
    const silent = this.#silent;
    this.stop();
    silent?.();
  }

  #doubt(silent: boolean): void {
    if (this.#doubting === silent) return;
    this.#doubting = silent;
    this.#options.doubted(silent);
  }

  /** A timer; where it comes late, everything is asked anew. */
  #wait(ms: number, then: () => void): void {
    const { clock } = this.#options.env;
    const dueMs = clock.now() + ms;
    this.#stop = clock.after(ms, () => {
      if (clock.now() > dueMs + LATE_MS) this.#ask();
      else then();
    });
  }
}
