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
  #looking: Promise<void> | undefined;
  #stop = (): void => {};

  constructor(options: UnheardOptions) {
    this.#options = options;
    this.#lookLater();
  }

  /** Anything may have changed: all that is open here or known to be unsent is looked at again. */
  everything(): void {
    // Not of the outbox: what is to be sent is found by looking.
    this.#tell(
      [...this.#options.open(), ...this.#unsent.keys()],
      SESSION_TABLES.filter((table) => table !== "outbox"),
    );
    this.#look();
  }

  close(): void {
    this.#stop();
  }

  #lookLater(): void {
    this.#stop = this.#options.clock.after(LOOK_MS, () => {
      this.#lookLater();
      if (this.#options.due()) this.#look();
    });
  }

  #look(): void {
    this.#looking ??= this.#options.db.read(["outbox", "state"], readUnsent).then(
      (unsent) => {
        this.#looking = undefined;
        const before = this.#unsent;
        this.#unsent = unsent;
        const changed = [...before.keys(), ...unsent.keys()].filter(
          (id) => before.get(id) !== unsent.get(id),
        );
        if (changed.length > 0) this.#tell(changed);
      },
      () => {
        // Told by those whom the storage failed; this looks again after a while.
        this.#looking = undefined;
      },
    );
  }

  #tell(sessions: readonly string[], tables: readonly string[] = SESSION_TABLES): void {
    this.#options.db.tell({ tables: new Set(tables), sessions: new Set(sessions) });
  }
}

/** The last change of each session that has unsent ones. Reads one row of each, whatever else there is. */
async function readUnsent(tx: Reader<SyncRows>): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [table, range] of [
    ["outbox", {}],
    ["state", { by: "unsent", prefix: [1] }],
  ] as const) {
    for (let to: readonly string[] | undefined; ; ) {
      const [row] = await tx.list(table, { ...range, ...(to && { to }), reverse: true, limit: 1 });
      if (row === undefined) break;
      found.set(row.session, `${found.get(row.session)} ${row.n}`);
      to = [row.session];
    }
  }
  return found;
}
