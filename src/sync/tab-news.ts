import type { TabChannel, Tabs } from "../env/tabs.ts";
import type { HoldfastError } from "../model/errors.ts";
import type { LinkNews } from "./connected.ts";
import type { LinkStatus } from "./connection-state.ts";
import { readError, type ToldError, writeError } from "./told-error.ts";

/** What the leading tab tells the others of its connection. */
export interface TabNews extends LinkNews {
  readonly lastSyncedAt: string | undefined;
  readonly lastError: HoldfastError | undefined;
}

export interface TabNewsEvents {
  /** The news of the tab that led under this epoch: it may not know yet that it no longer does. */
  told(news: TabNews, epoch: number): void;
  /** Something failed in another tab. */
  failed(error: HoldfastError): void;
  /** Somebody wants to know; the leader answers. */
  asked(): void;
  reconnect(): void;
  /** The database is about to be deleted: close. */
  wiped(): void;
}

type Said =
  | {
      readonly say: "news";
      readonly epoch: number;
      readonly link: LinkStatus;
      readonly fresh: boolean | undefined;
      readonly troubled: boolean | undefined;
      readonly at: string | undefined;
      readonly error: ToldError | undefined;
    }
  | { readonly say: "failed"; readonly error: ToldError }
  | { readonly say: "ask" | "reconnect" | "wipe" };

/** The tabs of one actor telling each other what is in no database. */
export class TabLine {
  readonly #channel: TabChannel;

  constructor(tabs: Tabs, name: string, events: TabNewsEvents) {
    this.#channel = tabs.channel(`${name}/tabs`, (data) => hear(data as Said, events));
  }

  tell({ lastSyncedAt, lastError, ...link }: TabNews, epoch: number): void {
    const error = lastError && writeError(lastError);
    this.#say({ say: "news", epoch, ...link, at: lastSyncedAt, error });
  }

  tellFailed(error: HoldfastError): void {
    this.#say({ say: "failed", error: writeError(error) });
  }

  say(what: "ask" | "reconnect" | "wipe"): void {
    this.#say({ say: what });
  }

  close(): void {
    this.#channel.close();
  }

  #say(said: Said): void {
    this.#channel.post(said);
  }
}

function hear(said: Said, events: TabNewsEvents): void {
  switch (said.say) {
    case "news": {
      const { epoch, link, fresh, troubled, at, error } = said;
      const lastError = error && readError(error);
      // A tab of an older bundle does not say the latter two: nobody waits for what it leads.
      const waits = { link, fresh: fresh !== false, troubled: troubled !== false };
      events.told({ ...waits, lastSyncedAt: at, lastError }, epoch);
      break;
    }
    case "failed":
      events.failed(readError(said.error));
      break;
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
