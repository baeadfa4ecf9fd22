import type { Clock } from "../env/clock.ts";
import type { LocalDatabase } from "../store/database.ts";
import { Listeners } from "../store/listeners.ts";
import type { HeldDocument } from "../store/put-back.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import { StateReplica } from "./state-replica.ts";

/** How long after a failed read an open document catches up again. */
const AGAIN_MS = 1_000;

interface Held {
  readonly replica: StateReplica;
  users: number;
}

/** The documents that are open in this tab: one a session, however many use it. */
export class Replicas {
  readonly #db: LocalDatabase<SyncRows>;
  readonly #newId: () => string;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #held = new Map<string, Held>();
  readonly #listeners = new Listeners();
  readonly #unwatch: () => void;

  constructor(
    db: LocalDatabase<SyncRows>,
    newId: () => string,
    around: { readonly clock: Clock; readonly failed: (error: unknown) => void },
  ) {
    this.#db = db;
    this.#newId = newId;
    this.#clock = around.clock;
    this.#failed = around.failed;
    this.#unwatch = db.watch(({ tables, sessions }) => {
      if (!tables.has("state")) return;
      for (const session of sessions) this.#catchUp(session);
    });
  }

  #catchUp(session: string): void {
    this.#held
      .get(session)
      ?.replica.catchUp()
      .catch((error: unknown) => this.#failedFor(session, error));
  }

  /** Whoever has the document open is not told when the storage answers again. */
  #failedFor(session: string, error: unknown): void {
    this.#failed(error);
    this.#clock.after(AGAIN_MS, () => this.#catchUp(session));
  }

  /** Opens the session's document, or shares the open one. Every `acquire` needs its `release`. */
  acquire(session: string): StateReplica {
    let held = this.#held.get(session);
    if (held === undefined) {
      const ended = (): void => this.#forget(session, replica);
      const replica: StateReplica = new StateReplica(this.#db, session, this.#newId, {
        failed: (error) => this.#failedFor(session, error),
        ended,
        pause: () => new Promise((resolve) => void this.#clock.after(AGAIN_MS, resolve)),
      });
      held = { replica, users: 0 };
      this.#held.set(session, held);
      this.#listeners.tell();
    }
    held.users += 1;
    return held.replica;
  }

  async release(replica: StateReplica): Promise<void> {
    const held = this.#held.get(replica.session);
    // One whose session has ended is nobody's any more; it was closed then.
    if (held?.replica !== replica) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#held.delete(replica.session);
    this.#listeners.tell();
    await replica.close();
  }

  /** The session's life has ended: who asks from now on gets another document. */
  #forget(session: string, replica: StateReplica): void {
    if (this.#held.get(session)?.replica !== replica) return;
    this.#held.delete(session);
    this.#listeners.tell();
  }

  /** The open document of the session, with all that is stored in it, while `work` runs. */
  async using<T>(session: string, work: (replica: StateReplica) => Promise<T>): Promise<T> {
    const replica = this.acquire(session);
    try {
      await replica.ready();
      return await work(replica);
    } finally {
      await this.release(replica);
    }
  }

  /** All open documents as they are now. */
  documents(): readonly HeldDocument[] {
    return [...this.#held.values()].map(({ replica }) => replica.held());
  }

  /** The database is a new one, in which each document stands in that row. */
  renewed(rows: ReadonlyMap<string, number>): void {
    for (const [session, { replica }] of this.#held) replica.renewed(rows.get(session) ?? 0);
  }

  get sessions(): readonly string[] {
    return [...this.#held.keys()];
  }

  /** How many use the session's document. */
  users(session: string): number {
    return this.#held.get(session)?.users ?? 0;
  }

  /** Has the watchers look again: who is left may only hold documents for others. */
  reconsider(): void {
    this.#listeners.tell();
  }

  /** Told when a session's document opens or closes. */
  watch(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#unwatch();
    const held = [...this.#held.values()];
    this.#held.clear();
    await Promise.allSettled(held.map(({ replica }) => replica.close()));
  }
}
