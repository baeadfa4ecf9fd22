import { Awareness } from "y-protocols/awareness";
import { applyUpdate, Doc, encodeStateAsUpdate } from "yjs";
import { freezeJson } from "../model/json.ts";
import type { LocalDatabase } from "../store/database.ts";
import { addStateUpdate } from "../store/land.ts";
import { Listeners } from "../store/listeners.ts";
import type { SeenState } from "../store/live-store.ts";
import type { HeldDocument } from "../store/put-back.ts";
import { compactState } from "../store/state-compact.ts";
import { clientNumber, forkWith, readState } from "../store/state-document.ts";
import type { PendingOp, StateRow, SyncRows } from "../store/sync-rows.ts";
import { sturdy } from "./state-doc.ts";

/** The origin of updates that came from the database and that the relay may not have. */
const FROM_DISK = Symbol("from disk");

/** A change that the relay may not have. */
interface Unsent {
  readonly ticket: number;
  readonly row: Promise<number | undefined>;
  /** It stands in its row. */
  stored?: boolean;
}

/**
 * One session's document in this tab: what is durable and what was edited directly, never the state of ops that are
 * still in the outbox, because a refused op must leave nothing. What changes in it is stored; what others store in
 * the same database is applied to it.
 */
export class StateReplica {
  readonly doc = sturdy(new Doc());
  readonly awareness: Awareness;
  readonly session: string;
  /** Another one for each replica: one that its session's end has overtaken is of another life. */
  readonly #life: string;
  readonly #db: LocalDatabase<SyncRows>;
  readonly #failed: (error: unknown) => void;
  readonly #ended: () => void;
  readonly #pause: () => Promise<void>;
  #closed = false;
  /** Null until the relay has named one. */
  #incarnation: string | null = null;
  #over = false;
  /** Rows up to here are in the document. */
  #applied = 0;
  /** One ticket for each change that the relay may not have, in the order they entered the document. */
  #ticket = 0;
  #unsent: Unsent[] = [];
  /** Rows that this replica wrote itself: the document has them. */
  readonly #own = new Set<number>();
  #remoteOrigin: unknown;
  /** An update from the database is being applied: it is stored already. */
  #reading = false;
  #work: Promise<unknown> = Promise.resolve();
  #seen: SeenState | undefined;
  readonly #listeners = new Listeners();

  #ready: Promise<void> | undefined;

  constructor(
    db: LocalDatabase<SyncRows>,
    session: string,
    newId: () => string,
    events: {
      readonly failed: (error: unknown) => void;
      readonly ended: () => void;
      /** A while, before what failed is tried again. */
      readonly pause: () => Promise<void>;
    },
  ) {
    this.#db = db;
    this.session = session;
    this.doc.clientID = clientNumber(newId());
    // Presence goes by the document's number, and keeps the one it finds here.
    this.awareness = sturdy(new Awareness(this.doc));
    this.#life = String(this.doc.clientID);
    this.#failed = events.failed;
    this.#ended = events.ended;
    this.#pause = events.pause;
    // Nobody is here until a user of the document says so.
    this.awareness.setLocalState(null);
    this.doc.on("update", this.#changed);
    // Storage without room for that can still be read.
    void this.#queue(() => compactState(db, session)).catch(events.failed);
    this.ready().catch(events.failed);
  }

  /**
   * Resolves when what is stored has been read. Until then the document is there, but may lack it. Where that failed, it
   * is tried again for whoever asks next.
   */
  ready(): Promise<void> {
    this.#ready ??= this.catchUp().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Applies what the database has and the document has not. */
  catchUp(): Promise<void> {
    return this.#queue(async () => {
      if (this.#over) return;
      const { rows, incarnation } = await this.#db.read(["state", "sessions"], async (tx) => ({
        rows: await tx.list("state", { prefix: [this.session], from: [this.#applied + 1] }),
        incarnation: (await tx.get("sessions", [this.session]))?.incarnation ?? null,
      }));
      // Whatever comes now is of another life, for another document.
      if (this.#incarnation !== null && incarnation !== this.#incarnation) return this.#end();
      this.#incarnation = incarnation;
      for (const row of rows) {
        this.#applied = Math.max(this.#applied, row.n);
        if (this.#own.delete(row.n)) continue;
        if (row.unsent === 1) this.#noteUnsent(row.n);
        this.#apply(row);
      }
    });
  }

  #apply({ update, unsent }: StateRow): void {
    this.#reading = true;
    try {
      // A provider does not send what came by its own origin, and what the relay has must not be sent to it again.
      applyUpdate(this.doc, update, unsent === 0 ? this.#remoteOrigin : FROM_DISK);
    } catch (error) {
      // An observer of a type in the document threw; what else was told of the change has been.
      this.#failed(error);
    } finally {
      this.#reading = false;
    }
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
  }

  /** Resolves when the rows up to this one are in the document. */
  async reach(row: number): Promise<void> {
    if (row > this.#applied) await this.catchUp();
  }

  /** The life that this document is of, once it is read and the relay has named it. */
  get incarnation(): string | null {
    return this.#incarnation;
  }

  /** The session's life that this document is of has ended. */
  get isOver(): boolean {
    return this.#over;
  }

  /** While a channel is open: updates of this origin came from the relay. */
  setRemoteOrigin(origin: unknown): void {
    this.#remoteOrigin = origin;
  }

  /** The newest change in the document that the relay may not have; what a channel asks when it sends. */
  position(): number {
    return this.#ticket;
  }

  /** The relay has committed every change up to this ticket, which it tells once. Resolves when that is stored, or the document closed. */
  async durable(ticket: number): Promise<void> {
    const done = this.#unsent.filter((change) => change.ticket <= ticket);
    await Promise.all(done.map(({ row }) => row));
    for (;;) {
      try {
        return await this.#note(done);
      } catch (error) {
        this.#failed(error);
      }
      await this.#pause();
      if (this.#closed) return;
    }
  }

  #note(done: readonly Unsent[]): Promise<void> {
    return this.#queue(async () => {
      const rows = await Promise.all(done.map(({ row }) => row));
      await this.#db.write(["state"], async (tx) => {
        for (const [at, n] of rows.entries()) {
          // What was put into a new database meanwhile stands elsewhere.
          const there = this.#unsent.some((change) => change === done[at]);
          const row = n === undefined || !there ? undefined : await tx.get("state", [this.session, n]);
          if (row?.unsent === 1) await tx.put("state", { ...row, unsent: 0 });
        }
      });
      this.#unsent = this.#unsent.filter((change) => !done.includes(change));
    });
  }

  /** The whole document, for a database that is begun anew. */
  held(): HeldDocument {
    const { session } = this;
    const update = encodeStateAsUpdate(this.doc);
    return { session, incarnation: this.#incarnation, update, unsent: this.#unsent.length > 0 };
  }

  /** The rows are those of a new database, in which the document stands in that row. What is being stored goes there. */
  renewed(row: number): void {
    const unsent = this.#unsent.some(({ stored }) => stored === true);
    this.#applied = row;
    this.#own.clear();
    this.#unsent = this.#unsent.filter(({ stored }) => stored !== true);
    if (unsent) this.#noteUnsent(row);
  }

  #noteUnsent(row: number): void {
    this.#unsent.push({ ticket: ++this.#ticket, row: Promise.resolve(row), stored: true });
  }

  /** The state as it is seen: the document, and over it the state of the outbox's ops. A delete among them begins anew. */
  view(ops: readonly PendingOp[]): SeenState {
    const ended = ops.findLastIndex(({ kind }) => kind === "delete");
    const pending = ops.slice(ended + 1).flatMap((op) => (op.state === undefined ? [] : [op.state.update]));
    if (ended < 0 && pending.length === 0) {
      this.#seen ??= seenOf(this.doc, this.#life, false);
      return this.#seen;
    }
    const fork = ended < 0 ? forkWith(this.doc, pending) : forkWith(new Doc(), pending);
    return seenOf(fork, ops[ended]?.opId ?? this.#life, pending.length > 0 || ended >= 0);
  }

  watch(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#work;
    this.doc.off("update", this.#changed);
    this.awareness.destroy();
    this.doc.destroy();
  }

  readonly #changed = (update: Uint8Array, origin: unknown): void => {
    this.#seen = undefined;
    if (!this.#reading && !this.#over)
      this.#keep(update, origin !== undefined && origin === this.#remoteOrigin);
    this.#listeners.tell();
  };

  #keep(update: Uint8Array, durable: boolean): void {
    const row = this.#queue(() => this.#store(update, durable)).catch((error: unknown) => {
      this.#failed(error);
      return this.#storeLater(update, durable);
    });
    if (durable) return;
    const change: Unsent = { ticket: ++this.#ticket, row };
    this.#unsent.push(change);
    void row.then(() => {
      change.stored = true;
    });
  }

  async #store(update: Uint8Array, durable: boolean): Promise<number> {
    let own: number | undefined;
    try {
      return await this.#db.write(["state"], async (tx) => {
        own = await addStateUpdate(tx, this.session, update, durable);
        this.#own.add(own);
        return own;
      });
    } catch (error) {
      // The number is free: the next row that gets it is not this one.
      if (own !== undefined) this.#own.delete(own);
      throw error;
    }
  }

  /** What the document has must come to the disk, however often that fails; in any order, as updates commute. */
  async #storeLater(update: Uint8Array, durable: boolean): Promise<number | undefined> {
    for (;;) {
      await this.#pause();
      if (this.#closed) return undefined;
      try {
        return await this.#store(update, durable);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#work.then(work, work);
    // The caller hears of a failure; the next in line only waits.
    this.#work = next.catch(() => undefined);
    return next;
  }
}

function seenOf(doc: Doc, life: string, restsOnPending: boolean): SeenState {
  return { state: freezeJson(readState(doc)), basis: encodeStateAsUpdate(doc), life, restsOnPending };
}
