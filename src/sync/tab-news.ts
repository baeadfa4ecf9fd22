import type { TabChannel, Tabs } from "../env/tabs.ts";
import { HoldfastError } from "../model/errors.ts";
import type { LinkStatus } from "./connection-state.ts";

/** What the leading tab tells the others of its connection. */
export interface TabNews {
  readonly link: LinkStatus;
  readonly lastSyncedAt: string | undefined;
  readonly lastError: HoldfastError | undefined;
}

export interface TabNewsEvents {
  /** The leader's news: this tab follows. */
  told(news: TabNews): void;
  /** Somebody wants to know; the leader answers. */
  asked(): void;
  reconnect(): void;
  /** The database is about to be deleted: close. */
  wiped(): void;
}

type Said =
  | {
      readonly say: "news";
      readonly link: LinkStatus;
      readonly at: string | undefined;
      readonly error: string | undefined;
    }
  | { readonly say: "ask" | "reconnect" | "wipe" };

/** The tabs of one actor telling each other what is in no database. */
export class TabLine {
  readonly #channel: TabChannel;

  constructor(tabs: Tabs, name: string, events: TabNewsEvents) {
    this.#channel = tabs.channel(`${name}/tabs`, (data) => hear(data as Said, events));
  }

  tell({ link, lastSyncedAt, lastError }: TabNews): void {
    this.#channel.post({ say: "news", link, at: lastSyncedAt, error: lastError?.message } satisfies Said);
  }

  say(what: "ask" | "reconnect" | "wipe"): void {
    this.#channel.post({ say: what } satisfies Said);
  }

  close(): void {
    this.#channel.close();
  }
}

function hear(said: Said, events: TabNewsEvents): void {
  switch (said.say) {
    case "news": {
      const lastError =
        said.error === undefined ? undefined : new HoldfastError(said.error, { code: "connection" });
      events.told({ link: said.link, lastSyncedAt: said.at, lastError });
      break;
    }
    case "ask":
      events.asked();
      break;
    case "reconnect":
      events.reconnect();
      break;
    case "wipe":
      events.wiped();
      break;
  }
}
