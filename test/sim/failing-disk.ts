import type { Clock } from "../../src/env/clock.ts";
import { StorageError, type StorageErrorReason } from "../../src/model/errors.ts";
import type { LocalDatabase, Reader, Writer } from "../../src/store/database.ts";
import type { SyncRows } from "../../src/store/sync-rows.ts";
import type { SeededRandom } from "../../src/testing/random.ts";
import { type Mortal, never } from "./mortal.ts";

/** How a transaction on this device's storage goes wrong. */
export type DiskFault =
  /** It cannot be begun. */
  | "refused"
  /** One of its requests fails, and with it all of it. */
  | "inside"
  /** Everything was written, and the commit fails. */
  | "at-commit"
  /** It was committed, and is told as failed. */
  | "unsaid"
  /** A read cannot be begun. */
  | "read";

/** How soon after its last failure a disk must be as if nothing had been. */
const QUIET_MS = 2_000;

const REASONS: readonly StorageErrorReason[] = [
  "quota",
  "blocked",
  "unavailable",
  "timeout",
  "corrupt",
  "closed",
  "failed",
];
const WRITES: readonly DiskFault[] = ["refused", "inside", "at-commit", "unsaid"];

/** The trouble of one device's storage: so many transactions from here on may go wrong. */
export class DiskTrouble {
  readonly injected = new Map<DiskFault, number>();
  readonly #random: SeededRandom;
  readonly #clock: Clock;
  #left = 0;
  #quiet = true;
  #stopWaiting = (): void => {};

  constructor(random: SeededRandom, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
  }

  /** The next `transactions` go wrong, about half of them. */
  begin(transactions: number): void {
    this.#left = transactions;
  }

  end(): void {
    this.#left = 0;
  }

  /** Nothing went wrong for a while: what had to be done again has been. */
  get over(): boolean {
    return this.#quiet;
  }

  /** How often a commit was told as failed. */
  get unsaid(): number {
    return this.injected.get("unsaid") ?? 0;
  }

  draw(mode: "read" | "write"): DiskFault | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    if (!this.#random.chance(0.5)) return undefined;
    const fault = mode === "read" ? "read" : (WRITES[this.#random.below(WRITES.length)] ?? "refused");
    this.injected.set(fault, (this.injected.get(fault) ?? 0) + 1);
    this.#quiet = false;
    this.#stopWaiting();
    this.#stopWaiting = this.#clock.after(QUIET_MS, () => {
      this.#quiet = true;
    });
    return fault;
  }

  error(): StorageError {
    const reason = REASONS[this.#random.below(REASONS.length)] ?? "failed";
    return new StorageError(`The disk fails: ${reason}`, { reason });
  }

  below(n: number): number {
    return this.#random.below(n);
  }
}

/** The database as a tab has it: its calls go wrong while the disk is in trouble, and end with the tab's life. */
export function failing(
  db: LocalDatabase<SyncRows>,
  life: Mortal,
  trouble: DiskTrouble,
): LocalDatabase<SyncRows> {
  /** Nobody hears how it ended when the tab died meanwhile. */
  const told = async <R>(work: Promise<R>): Promise<R> => {
    try {
      const result = await work;
      if (!life.breathe()) await never;
      return result;
    } catch (error) {
      if (life.dead) await never;
      throw error;
    }
  };
  return {
    read: async (tables, work) => {
      if (!life.breathe()) await never;
      if (trouble.draw("read") !== undefined) throw trouble.error();
      return told(db.read(tables, (tx) => work(life.doomed ? reader(tx, life) : tx)));
    },
    write: async (tables, work) => {
      if (!life.breathe()) await never;
      const fault = trouble.draw("write");
      if (fault === "refused") throw trouble.error();
      const result = await told(
        db.write(tables, async (tx) => {
          const left = fault === "inside" ? trouble.below(6) : Number.POSITIVE_INFINITY;
          const spoilt = fault === "inside" || life.doomed;
          const done = await work(spoilt ? writer(tx, life, { left, error: () => trouble.error() }) : tx);
          if (fault === "at-commit" || fault === "inside") throw trouble.error();
          if (!life.breathe()) await never;
          return done;
        }),
      );
      if (fault === "unsaid") throw trouble.error();
      return result;
    },
    watch: (listener) => db.watch(listener),
    close: () => db.close(),
    destroy: () => db.destroy(),
  };
}

function reader(tx: Reader<SyncRows>, life: Mortal): Reader<SyncRows> {
  const breath = async (): Promise<void> => {
    // The transaction is under way before anything in it can be the last.
    await undefined;
    if (!life.breathe()) await never;
  };
  return {
    get: async (table, key) => {
      await breath();
      return tx.get(table, key);
    },
    list: async (table, range) => {
      await breath();
      return tx.list(table, range);
    },
  };
}

function writer(
  tx: Writer<SyncRows>,
  life: Mortal,
  fault: { left: number; error: () => StorageError },
): Writer<SyncRows> {
  const call = async (): Promise<void> => {
    await undefined;
    if (!life.breathe()) await never;
    fault.left -= 1;
    if (fault.left < 0) throw fault.error();
  };
  const read = reader(tx, life);
  return {
    get: read.get,
    list: read.list,
    put: async (table, row) => {
      await call();
      return tx.put(table, row);
    },
    delete: async (table, key) => {
      await call();
      return tx.delete(table, key);
    },
    deleteRange: async (table, range) => {
      await call();
      return tx.deleteRange(table, range);
    },
  };
}
