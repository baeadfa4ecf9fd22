import type { SyncedSession } from "../session/synced-session.ts";

interface Lease {
  readonly session: SyncedSession;
  holders: number;
}

/**
 * The open sessions of one provider: all components that show one session share one handle, and it is closed
 * when the last of them has gone. As with the client, closing waits for the end of the turn, so that a
 * component that leaves and comes back in one turn keeps its handle.
 *
 * `session` may be called while rendering and has to be without effect on others: a handle made for a
 * render that never became visible stays here unheld, one per id at most, and is given to the next who asks.
 */
export class SessionLeases {
  readonly #open: (id: string) => SyncedSession;
  readonly #leases = new Map<string, Lease>();

  constructor(open: (id: string) => SyncedSession) {
    this.#open = open;
  }

  /** The handle of this session: the same one until it is closed. */
  session(id: string): SyncedSession {
    return this.#lease(id).session;
  }

  /** Keeps the handle open until the returned function is called. */
  hold(id: string): () => void {
    const lease = this.#lease(id);
    lease.holders += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      lease.holders -= 1;
      void this.#closeUnlessHeld(id, lease);
    };
  }

  #lease(id: string): Lease {
    const known = this.#leases.get(id);
    if (known !== undefined) return known;
    const lease: Lease = { session: this.#open(id), holders: 0 };
    this.#leases.set(id, lease);
    return lease;
  }

  async #closeUnlessHeld(id: string, lease: Lease): Promise<void> {
    await Promise.resolve();
    if (lease.holders > 0 || this.#leases.get(id) !== lease) return;
    this.#leases.delete(id);
    await lease.session.close();
  }
}
