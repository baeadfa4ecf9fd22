import type { Transaction } from "dexie";
import type { Page } from "../env/page.ts";

type Work<R> = (transaction: Transaction) => Promise<R>;

/**
 * While its page is frozen a tab has no transaction open: it would hold up every other tab until the page wakes (C40).
 * What was open is undone, and done again from its beginning when the page is awake; what comes meanwhile waits.
 */
export class PageSleep {
  readonly #open = new Set<{ readonly transaction: Transaction; undone: boolean }>();
  readonly #leavePage: () => void;
  #awake: Promise<void> | undefined;
  #wake = (): void => {};

  constructor(page: Pick<Page, "watch"> | undefined) {
    const stop = page?.watch((signal) => {
      if (signal === "freeze") this.#sleep();
      else if (signal === "resume" || signal === "pageshow" || signal === "visible") this.#wake();
    });
    this.#leavePage = () => stop?.();
  }

  /** Runs `work` in the transaction that `transact` opens. */
  async through<R>(work: Work<R>, transact: (work: Work<R>) => Promise<R>): Promise<R> {
    for (;;) {
      if (this.#awake !== undefined) await this.#awake;
      let own: { readonly transaction: Transaction; undone: boolean } | undefined;
      try {
        return await transact((transaction) => {
          own = { transaction, undone: false };
          this.#open.add(own);
          return work(transaction);
        });
      } catch (error) {
        if (own?.undone !== true) throw error;
      } finally {
        if (own !== undefined) this.#open.delete(own);
      }
    }
  }

  /** Nothing waits any longer. */
  close(): void {
    this.#leavePage();
    this.#wake();
  }

  #sleep(): void {
    this.#awake ??= new Promise((resolve) => {
      this.#wake = () => {
        this.#awake = undefined;
        resolve();
      };
    });
    for (const one of this.#open) {
      try {
        one.transaction.idbtrans.abort();
        one.undone = true;
      } catch {
        // It is committing, for which it does not need the page, or has ended.
      }
    }
  }
}
