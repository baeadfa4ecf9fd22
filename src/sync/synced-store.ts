import { ActorMismatchError, RejectedError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { EMPTY_REVISION, type Revision } from "../model/revision.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { checkAppend, checkReplace, checkScope, checkWork } from "../store/checked-write.ts";
import type { AppendWrite, ReplaceWrite, Scope } from "../store/contract.ts";
import type { Reader } from "../store/database.ts";
import { type Draft, draftOf, enqueue } from "../store/enqueue.ts";
import { heldGeneration } from "../store/held-generations.ts";
import { addStateUpdate, lastStateRow } from "../store/land.ts";
import type {
  Beside,
  Generation,
  Intent,
  LiveStore,
  OpenState,
  SeenState,
  View,
  Window,
  WrittenOp,
} from "../store/live-store.ts";
import { SessionQueue } from "../store/session-queue.ts";
import { isAbsent, SESSION_TABLES, type SessionOnDisk } from "../store/session-rows.ts";
import type { OpState, PendingOp, SyncRows } from "../store/sync-rows.ts";
import { snapshotOf, type ViewCache } from "../store/view-cache.ts";
import { readWindow } from "../store/view-window.ts";
import { fittingStateOp } from "./fitting-state.ts";
import { checkLimits, limitsIn } from "./op-limits.ts";
import { openState } from "./open-state.ts";
import { readGenerationMessages, readGenerations } from "./read-generations.ts";
import type { StateReplica } from "./state-replica.ts";
import type { SyncedStoreOptions } from "./synced-store-options.ts";
import { closedTooSoon, isUnread, untilArrived, untilConfirmed, untilRead } from "./until.ts";

/** What a write means, given what is there; undefined when it would change nothing. */
type Drafting = (found: SessionOnDisk, tx: Reader<SyncRows>) => Promise<Draft | undefined>;

/**
 * The sessions of one actor as this device sees them: confirmed and, over that, the outbox. Writes commit here and
 * resolve; whoever watches the database sends them. It knows no socket.
 */
export class SyncedStore implements LiveStore {
  readonly #options: SyncedStoreOptions;
  readonly #cache: ViewCache;
  readonly #queue = new SessionQueue();
  /** Writes of one session commit in the order of the calls, whatever each has to read before. */
  readonly #writes = new SessionQueue();

  constructor(options: SyncedStoreOptions) {
    this.#options = options;
    this.#cache = options.cache;
  }

  async load(id: string, scope: Scope): Promise<Snapshot | undefined> {
    this.#mustBeOurs(checkScope(id, scope));
    return (await this.view(id))?.snapshot;
  }

  async append(id: string, write: AppendWrite): Promise<Snapshot> {
    const {
      actorId,
      messages,
      state,
      metadata,
      expectedCount: count,
      expectedGeneration,
    } = checkAppend(id, write);
    this.#mustBeOurs(actorId);
    const generation = expectedGeneration ?? (await this.#revision(id)).generation;
    const intent = { kind: "append", messages, conflict: "rebase", on: { generation, count } } as const;
    await this.write(id, intent, { state: { to: state }, metadata });
    return this.#mustExist(id);
  }

  async replace(id: string, write: ReplaceWrite): Promise<Snapshot> {
    const { actorId, messages, state, metadata, expected } = checkReplace(id, write);
    this.#mustBeOurs(actorId);
    await this.write(id, { kind: "replace", messages, expected }, { state: { to: state }, metadata });
    return this.#mustExist(id);
  }

  async synchronize<T>(id: string, scope: Scope, work: () => Promise<T>): Promise<T> {
    this.#mustBeOurs(checkScope(id, scope));
    checkWork(work);
    return this.#queue.run(id, work);
  }

  async withOperationContext<T>(_operationId: string | undefined, work: () => Promise<T>): Promise<T> {
    checkWork(work);
    return work();
  }

  view(id: string): Promise<View | undefined> {
    return this.#view(id);
  }

  committedView(id: string): Promise<View | undefined> {
    return untilRead(this.#options, () => this.#view(id));
  }

  async #view(id: string): Promise<View | undefined> {
    const { db, replicas, connected } = this.#options;
    return replicas.using(id, async (replica) => {
      const look = () =>
        db.read(["sessions", "outbox", "runs", "state"], async (tx) => {
          const found = await this.#cache.outboxes.read(tx, id);
          if (connected.mayStillCome(found?.row)) return "coming" as const;
          if (connected.closed && isUnread(found?.row)) throw closedTooSoon();
          if (found === undefined || isAbsent(found.row)) return undefined;
          return { found, log: await this.#cache.read(tx, found), lastState: await lastStateRow(tx, id) };
        });
      let read = await look();
      while (read === "coming") {
        await this.#arrival(id);
        read = await look();
      }
      if (read === undefined) return undefined;
      // What a confirmed op brought is in the document or among the ops: never in neither.
      await replica.reach(read.lastState);
      const { view } = read.found.row;
      const seen = replica.view(read.found.ops);
      const snapshot = snapshotOf(view, seen.state, read.log);
      if (read.log.hurt) this.#options.hurt(id);
      return { snapshot, head: view.head, seen };
    });
  }

  async window(id: string, count: number): Promise<Window> {
    await untilRead(this.#options, () => this.#arrival(id));
    // Whoever shows it is not told when the storage answers again.
    const window = await untilRead(this.#options, () =>
      this.#options.db.read(["sessions", "outbox", "runs", "rejected"], (tx) =>
        readWindow(tx, id, count, this.#cache.outboxes),
      ),
    );
    if (window.damaged) this.#options.hurt(id);
    return window;
  }

  write(id: string, intent: Intent, beside: Beside): Promise<WrittenOp | undefined> {
    return this.#writes.run(id, () =>
      this.#options.replicas.using(id, async (replica) => {
        if (intent.kind === "append" && (await intent.of?.ended())) throw deleted();
        const state = beside.state === undefined ? undefined : await this.#stateOp(id, replica, beside.state);
        const op = await this.#enqueue(id, async (found, tx) => {
          // An append looks at no history, however long (H11); what the cache knows of it is known anyway.
          const present =
            intent.kind === "append" ? await this.#cache.peek(tx, found) : await this.#cache.read(tx, found);
          return draftOf(found, intent, { ...beside, state }, present);
        });
        if ("messages" in intent) for (const message of intent.messages) this.#cache.note(message);
        return op === undefined ? undefined : { opId: op.opId };
      }),
    );
  }

  /** Puts an op of another kind into the outbox: an edit, a delete, or what was rejected before. */
  put(id: string, draft: Drafting): Promise<PendingOp | undefined> {
    return this.#writes.run(id, () => this.#enqueue(id, draft));
  }

  /** What the relay's last welcome does not allow is refused here, with or without a connection, in every tab (C27). */
  #enqueue(id: string, draft: Drafting): Promise<PendingOp | undefined> {
    const { db, newId, now } = this.#options;
    const made = { opId: newId(), at: now() };
    return db.write(SESSION_TABLES, async (tx) => {
      const checked = async (found: SessionOnDisk): Promise<Draft | undefined> => {
        const drafted = await draft(found, tx);
        if (drafted !== undefined) checkLimits(drafted, await limitsIn(tx));
        return drafted;
      };
      return enqueue(tx, id, checked, made, this.#cache.outboxes);
    });
  }

  confirmed(id: string, opId: string): Promise<void> {
    return untilConfirmed(this.#options, { id, opId });
  }

  changeState(id: string, to: JsonObject, seen: SeenState): Promise<void> {
    return this.#writes.run(id, () =>
      this.#options.replicas.using(id, async (replica) => {
        const now = await this.#seen(id, replica);
        const from = seen.life === now.life ? seen : now;
        const state = await fittingStateOp(this.#options, from, to);
        if (state !== undefined) await this.#changeState(id, state, from);
      }),
    );
  }

  async #changeState(id: string, state: OpState, seen: SeenState): Promise<void> {
    const { db } = this.#options;
    const row = await db.read(["sessions"], (tx) => tx.get("sessions", [id]));
    const unborn = row === undefined || isAbsent(row) || row.incarnation === null;
    if (seen.restsOnPending || unborn) {
      // It rests on what is still in the outbox, so it travels behind that.
      await this.#enqueue(id, async () => ({ kind: "append", messages: [], expected: null, state }));
      return;
    }
    await this.#options.replicas.using(id, async (replica) => {
      await db.write(["state"], (tx) => addStateUpdate(tx, id, state.update, false));
      await untilRead(this.#options, () => replica.catchUp());
    });
  }

  open(id: string): OpenState {
    return openState(this.#options, id);
  }

  seenState(id: string): Promise<SeenState> {
    return this.#options.replicas.using(id, (replica) => this.#seen(id, replica));
  }

  watchState(id: string, listener: () => void): () => void {
    const { replicas } = this.#options;
    const replica = replicas.acquire(id);
    const end = replica.watch(listener);
    return () => {
      end();
      void replicas.release(replica);
    };
  }

  async generations(id: string): Promise<readonly Generation[]> {
    await this.#arrival(id);
    return readGenerations(this.#options, id);
  }

  async holdsGeneration(id: string, generation: number): Promise<boolean> {
    return (await heldGeneration(this.#options.db, id, generation)).messages !== undefined;
  }

  async generationMessages(id: string, generation: number): Promise<readonly Message[]> {
    await this.#arrival(id);
    return readGenerationMessages(this.#options, id, generation);
  }

  watch(id: string, listener: () => void): () => void {
    return this.#options.db.watch(({ sessions }) => {
      if (sessions.has(id)) listener();
    });
  }

  #arrival(id: string): Promise<void> {
    return untilArrived(this.#options.db, this.#options.connected, id);
  }

  /** A whole-state write, over the state its writer had seen, unless the session has begun another life since. */
  async #stateOp(
    id: string,
    replica: StateReplica,
    { to, seen }: NonNullable<Beside["state"]>,
  ): Promise<OpState | undefined> {
    const now = await this.#seen(id, replica);
    return fittingStateOp(this.#options, seen?.life === now.life ? seen : now, to);
  }

  async #seen(id: string, replica: StateReplica): Promise<SeenState> {
    const { ops, lastState } = await this.#options.db.read(["sessions", "outbox", "state"], async (tx) => ({
      ops: (await this.#cache.outboxes.read(tx, id))?.ops ?? [],
      lastState: await lastStateRow(tx, id),
    }));
    await replica.reach(lastState);
    return replica.view(ops);
  }

  async #revision(id: string): Promise<Revision> {
    const row = await this.#options.db.read(["sessions"], (tx) => tx.get("sessions", [id]));
    return row?.view.head ?? EMPTY_REVISION;
  }

  async #mustExist(id: string): Promise<Snapshot> {
    const view = await this.committedView(id);
    return view?.snapshot ?? { messages: [], state: {}, metadata: {}, revision: EMPTY_REVISION };
  }

  #mustBeOurs(actorId: string | undefined): void {
    if (actorId !== undefined && actorId !== this.#options.actorId) throw new ActorMismatchError();
  }
}

function deleted(): RejectedError {
  return new RejectedError("The session was deleted while this was written", { reason: "deleted" });
}
