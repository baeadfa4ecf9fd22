import type { Clock } from "../env/clock.ts";
import type { Reader } from "../store/database.ts";
import { SESSION_TABLES } from "../store/session-rows.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import type { ToldDatabase } from "../store/told-database.ts";

/** How often the database is asked for unsent changes that nobody told of, in milliseconds. */
const LOOK_MS = 5_000;

export interface UnheardOptions {
  readonly db: ToldDatabase;
  readonly clock: Clock;
  /** Whether it makes sense to look now: this tab leads, or somebody sees it. */
  readonly due: () => boolean;
  /** The sessions that are open in this tab. */
  readonly open: () => Iterable<string>;
}

/**
 * What other tabs committed and this one did not hear of: a tab may die between its commit and its message (C39), and a
 * page that sleeps hears none. Looks into the database by itself, and tells its watchers what may have changed.
 */
export class Unheard {
  readonly #options: UnheardOptions;
  /** The last unsent change of each session that has any. */
  #unsent: ReadonlyMap<string, string> = new Map();
  #looking = false;
  #stop: () => void;

  constructor(options: UnheardOptions) {
    this.#options = options;
    this.#stop = this.#lookLater();
  }

  /** Anything may have changed: all that is open here or known to be unsent is looked at again. */
  everything(): void {
    const sessions = new Set([...this.#options.open(), ...this.#unsent.keys()]);
    this.#options.db.tell({ tables: new Set(SESSION_TABLES), sessions });
    void this.#look();
  }

  close(): void {
    this.#stop();
  }

  #lookLater(): () => void {
    return this.#options.clock.after(LOOK_MS, () => {
      this.#stop = this.#lookLater();
      if (this.#options.due()) void this.#look();
    });
  }

  async #look(): Promise<void> {
    const { db } = this.#options;
    if (this.#looking) return;
    this.#looking = true;
    try {
      const before = this.#unsent;
      this.#unsent = await db.read(["outbox", "state"], readUnsent);
      const sessions = new Set(
        [...before.keys(), ...this.#unsent.keys()].filter((id) => before.get(id) !== this.#unsent.get(id)),
      );
      if (sessions.size > 0) db.tell({ tables: new Set(["sessions", "outbox", "state"]), sessions });
    } catch {
      // Told by those whom the storage failed; this looks again after a while.
    } finally {
      this.#looking = false;
    }
  }
}

/** The last change of each session that has unsent ones. Reads one row of each, whatever else there is. */
async function readUnsent(tx: Reader<SyncRows>): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const last = { reverse: true, limit: 1 } as const;
  for (let [op] = await tx.list("outbox", last); op !== undefined; ) {
    found.set(op.session, op.opId);
    [op] = await tx.list("outbox", { ...last, to: [op.session] });
  }
  const unsent = { ...last, by: "unsent", prefix: [1] } as const;
  for (let [row] = await tx.list("state", unsent); row !== undefined; ) {
    found.set(row.session, `${found.get(row.session) ?? ""} ${row.n}`);
    [row] = await tx.list("state", { ...unsent, to: [row.session] });
  }
  return found;
}
