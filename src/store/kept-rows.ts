import type { Key, Range, Reader, Writer } from "./database.ts";
import type { PendingOp, RejectedRow, SessionRow, SyncRows } from "./sync-rows.ts";

type Table = keyof SyncRows & string;

/** So many ops are remembered; of more, the later ones. And of so many sessions, lately looked at, which life they are in. */
const MAX_OPS = 10_000;
const MAX_LIVES = 1_000;

/**
 * What of the unsent and the rejected has passed through this tab and stands in the database as far as it knows: what can be
 * put back when the database is deleted. Ops that another tab saw confirmed are dropped when the session's row is next seen.
 */
export class KeptRows {
  readonly #ops = new Map<string, Map<number, PendingOp>>();
  readonly #rejected = new Map<string, RejectedRow>();
  readonly #lives = new Map<string, string>();
  #count = 0;

  /** In their order. */
  get ops(): readonly PendingOp[] {
    return [...this.#ops.values()].flatMap((ops) => [...ops.values()]).sort((a, b) => a.n - b.n);
  }

  get rejected(): readonly RejectedRow[] {
    return [...this.#rejected.values()];
  }

  /** The incarnation that the relay named for a session. */
  lifeOf(session: string): string | null {
    return this.#lives.get(session) ?? null;
  }

  clear(): void {
    this.#ops.clear();
    this.#rejected.clear();
    this.#count = 0;
  }

  /** A transaction that remembers what it reads. */
  reading(tx: Reader<SyncRows>): Reader<SyncRows> {
    return this.#reading(tx, (note) => note());
  }

  /** A transaction whose `notes` are to be taken once it is committed, in their order. */
  writing(tx: Writer<SyncRows>, notes: (() => void)[]): Writer<SyncRows> {
    const later = (note: () => void): void => void notes.push(note);
    return {
      ...this.#reading(tx, later),
      put: (table, row) => {
        later(() => this.#see(table, row));
        return tx.put(table, row);
      },
      delete: (table, key) => {
        later(() => this.#miss(table, key));
        return tx.delete(table, key);
      },
      deleteRange: (table, range) => {
        if (range.prefix === undefined && (table === "outbox" || table === "rejected"))
          later(() => this.clear());
        return tx.deleteRange(table, range);
      },
    };
  }

  #reading(tx: Reader<SyncRows>, noted: (note: () => void) => void): Reader<SyncRows> {
    return {
      get: async <T extends Table>(table: T, key: Key) => {
        const row = await tx.get(table, key);
        if (row !== undefined) noted(() => this.#see(table, row));
        if (table === "sessions") noted(() => this.#noteLife(String(key[0]), row as SessionRow | undefined));
        return row;
      },
      list: async <T extends Table>(table: T, range?: Range) => {
        const rows = await tx.list(table, range);
        noted(() => {
          if (table === "rejected" && range === undefined) this.#rejected.clear();
          for (const row of rows) this.#see(table, row);
        });
        return rows;
      },
    };
  }

  #see(table: Table, row: SyncRows[Table]): void {
    if (table === "sessions") this.#trim(row as SessionRow);
    else if (table === "outbox") this.#keep(row as PendingOp);
    else if (table === "rejected") this.#rejected.set((row as RejectedRow).opId, row as RejectedRow);
  }

  #noteLife(session: string, row: SessionRow | undefined): void {
    this.#lives.delete(session);
    if (row === undefined || row.incarnation === null) return;
    this.#lives.set(session, row.incarnation);
    const [oldest] = this.#lives.size > MAX_LIVES ? this.#lives.keys() : [];
    if (oldest !== undefined) this.#lives.delete(oldest);
  }

  #miss(table: Table, key: Key): void {
    if (table === "outbox") this.#drop(String(key[0]), Number(key[1]));
    else if (table === "rejected") this.#rejected.delete(String(key[1]));
  }

  #keep(op: PendingOp): void {
    const ops = this.#ops.get(op.session) ?? new Map<number, PendingOp>();
    this.#ops.set(op.session, ops);
    if (!ops.has(op.n)) this.#count += 1;
    ops.set(op.n, op);
    const [first] = this.#count > MAX_OPS ? (this.#ops.values().next().value?.keys() ?? []) : [];
    const [session] = this.#ops.keys();
    if (first !== undefined && session !== undefined) this.#drop(session, first);
  }

  #drop(session: string, n: number): void {
    const ops = this.#ops.get(session);
    if (ops?.delete(n) !== true) return;
    this.#count -= 1;
    if (ops.size === 0) this.#ops.delete(session);
  }

  /** Ops come at the end and go at the front: of those up to the last, as many as wait are still there. */
  #trim({ id, view, outbox }: SessionRow): void {
    const ops = this.#ops.get(id);
    // A row that cannot be read says nothing.
    if (ops === undefined || view === undefined || outbox === undefined || ops.size <= view.pending) return;
    const known = [...ops.keys()].filter((n) => n <= outbox.last).sort((a, b) => a - b);
    for (const n of known.slice(0, Math.max(0, known.length - view.pending))) this.#drop(id, n);
  }
}
