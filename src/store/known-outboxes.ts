import type { Reader } from "./database.ts";
import type { SessionOnDisk } from "./session-rows.ts";
import type { PendingOp, SessionRow, SyncRows } from "./sync-rows.ts";

/** A session's ops as they were read last. */
interface Known {
  readonly edition: number;
  readonly ops: readonly PendingOp[];
}

/** How many sessions' ops are remembered. */
const MAX_SESSIONS = 16;

/** Remembers the outboxes lately read, so that reading one again costs what came since and not what waits. */
export class KnownOutboxes {
  readonly #known = new Map<string, Known>();

  /** The session and its ops, which are remembered: for transactions that write nothing, whose data is committed. */
  async read(tx: Reader<SyncRows>, session: string): Promise<SessionOnDisk | undefined> {
    const found = await this.peek(tx, session);
    this.#known.delete(session);
    if (found === undefined || found.ops.length === 0) return found;
    this.#known.set(session, { edition: found.row.outbox.edition, ops: found.ops });
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MAX_SESSIONS) break;
      this.#known.delete(id);
    }
    return found;
  }

  /** The same, and remembers nothing: what a transaction writes may never be committed. */
  async peek(tx: Reader<SyncRows>, session: string): Promise<SessionOnDisk | undefined> {
    const row = await tx.get("sessions", [session]);
    if (row === undefined) return undefined;
    return { row, ops: await this.#opsOf(tx, row) };
  }

  clear(): void {
    this.#known.clear();
  }

  async #opsOf(tx: Reader<SyncRows>, row: SessionRow): Promise<readonly PendingOp[]> {
    const { id, view, outbox } = row;
    if (view.pending === 0) return [];
    const known = this.#known.get(id);
    const last = known?.ops.at(-1)?.n;
    if (known !== undefined && last !== undefined && known.edition === outbox.edition) {
      const came = outbox.last > last ? await tx.list("outbox", { prefix: [id], from: [last + 1] }) : [];
      // This transaction may be of a moment before the one whose ops are known.
      const ops = came.length > 0 ? [...known.ops, ...came] : known.ops.filter(({ n }) => n <= outbox.last);
      if (ops.length >= view.pending) return ops.slice(ops.length - view.pending);
    }
    return tx.list("outbox", { prefix: [id] });
  }
}
