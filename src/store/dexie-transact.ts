import type { Dexie, Transaction } from "dexie";
import type { Clock } from "../env/clock.ts";
import { within } from "../env/within.ts";
import { LIMIT_MS } from "./dexie-options.ts";
import { storageError } from "./storage-failure.ts";

/** One transaction, within its time limit. */
export async function transact<R>(
  over: {
    readonly dexie: Dexie;
    readonly clock: Clock | undefined;
    readonly mode: "r!" | "rw!";
    readonly tables: readonly string[];
  },
  work: (transaction: Transaction) => Promise<R>,
): Promise<R> {
  const { dexie, clock, mode, tables } = over;
  let late = false;
  let running: Transaction | undefined;
  const transacted = dexie.transaction(mode, [...tables], async (transaction) => {
    // Nobody waits for it any more.
    if (late) throw storageError("timeout");
    running = transaction;
    const result = await work(transaction);
    // Said, so that a tab frozen right now holds up no other: left alone, the commit waits for this tab.
    if (mode === "rw!") transaction.idbtrans.commit?.();
    return result;
  });
  return within(clock, LIMIT_MS.transaction, Promise.resolve(transacted), () => {
    late = true;
    try {
      running?.abort();
    } catch {
      // It is committing already: what becomes of it is not known.
    }
    throw storageError("timeout");
  });
}
