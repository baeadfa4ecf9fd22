import { ActorMismatchError, ConflictError, invalidInput } from "../model/errors.ts";
import { cloneJson, freezeJson, nameOf } from "../model/json.ts";
import { type Message, serializeMessage } from "../model/message.ts";
import { EMPTY_REVISION, type Revision, type Snapshot } from "../model/snapshot.ts";
import {
  type CheckedWrite,
  checkAppend,
  checkReplace,
  checkScope,
  checkWork,
  refuseKnownIds,
} from "./checked-write.ts";
import type { AppendWrite, ReplaceWrite, Scope, SessionStore } from "./contract.ts";
import type { LocalDatabase, Reader, Writer } from "./database.ts";
import type { LocalRows, LocalSessionRow } from "./local-rows.ts";
import { type CachedLog, LogCache } from "./log-cache.ts";
import { appendMessages, readMessages } from "./log-rows.ts";
import { SessionQueue } from "./session-queue.ts";
import { putSession, readSession, type SoundSession } from "./sound-session.ts";
import { parseLog } from "./stored-log.ts";

/** Runs work of one name at a time among all who share the database. */
export type Exclusively = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** A session as one transaction sees it, with its messages. */
interface FoundSession extends SoundSession {
  readonly log: CachedLog;
}

/** What a write left: the row, and where in which generation its messages began. */
interface Written {
  readonly session: SoundSession;
  readonly from: Revision;
}

const TABLES = ["sessions", "runs", "archived", "aside"] as const;

/** The rules of a {@link SessionStore} that is its own record (T1–T5, T7), over any local database. */
export class LocalSessionStore implements SessionStore {
  readonly #db: LocalDatabase<LocalRows>;
  readonly #exclusively: Exclusively;
  readonly #logs = new LogCache();
  readonly #queue = new SessionQueue();
  /** Set while `work` of {@link withOperationContext} runs before its first await. */
  #operationId: string | undefined;

  constructor(db: LocalDatabase<LocalRows>, exclusively: Exclusively = (_, work) => work()) {
    this.#db = db;
    this.#exclusively = exclusively;
  }

  /** The session as it stands; undefined when there is none. With an actor, a new id becomes that actor's (T3). */
  async load(id: string, scope: Scope): Promise<Snapshot | undefined> {
    const actorId = checkScope(id, scope);
    const found = await this.#db.read(TABLES, (tx) => this.#find(tx, id, actorId));
    if (found !== undefined) return found.row.written ? snapshotOf(found, found.log) : undefined;
    if (actorId === undefined) return undefined;
    const claimed = await this.#db.write(TABLES, (tx) => this.#claim(tx, id, actorId));
    return claimed?.row.written ? snapshotOf(claimed, claimed.log) : undefined;
  }

  /** Adds messages in one atomic step. @throws ConflictError when the store's revision is another (T1, T2). */
  async append(id: string, write: AppendWrite): Promise<Snapshot> {
    const given = checkAppend(id, write);
    const serialized = given.messages.map(serializeMessage);
    const operationId = this.#operationId;
    const written = await this.#db.write(TABLES, async (tx): Promise<Written> => {
      const found = await this.#find(tx, id, given.actorId);
      const actual = revisionOf(found);
      const expected = {
        generation: given.expectedGeneration ?? actual.generation,
        count: given.expectedCount,
      };
      refuseMoved(expected, actual);
      refuseKnownIds(given.messages, found?.log.ids ?? new Set());
      await appendMessages(tx, id, actual, serialized);
      const revision = { generation: actual.generation, count: actual.count + serialized.length };
      return { session: await put(tx, id, { given, revision, operationId }, found), from: actual };
    });
    return snapshotOf(written.session, this.#logs.add(id, written.from, given.messages));
  }

  /** Begins a new generation. @throws ConflictError when `expected` is given and is not the store's revision. */
  async replace(id: string, write: ReplaceWrite): Promise<Snapshot> {
    const given = checkReplace(id, write);
    refuseKnownIds(given.messages, new Set());
    const serialized = given.messages.map(serializeMessage);
    const operationId = this.#operationId;
    const written = await this.#db.write(TABLES, async (tx): Promise<Written> => {
      const found = await this.#find(tx, id, given.actorId);
      const actual = revisionOf(found);
      if (given.expected !== undefined) refuseMoved(given.expected, actual);
      if (found?.row.written) {
        await tx.put("archived", { session: id, ...actual, ...named(operationId) });
      }
      const from = { generation: actual.generation + 1, count: 0 };
      await appendMessages(tx, id, from, serialized);
      const revision = { generation: from.generation, count: serialized.length };
      return { session: await put(tx, id, { given, revision, operationId }, found), from };
    });
    return snapshotOf(written.session, this.#logs.add(id, written.from, given.messages));
  }

  /** The messages of a generation, replaced or present; undefined when there is none of that number. */
  async generationMessages(
    id: string,
    generation: number,
    scope: Scope,
  ): Promise<readonly Message[] | undefined> {
    const actorId = checkScope(id, scope);
    return this.#db.read(TABLES, async (tx) => {
      const found = await readSession(tx, id);
      if (found === undefined || !found.row.written) return undefined;
      refuseOthers(found.row, actorId);
      const present = found.row.generation === generation ? found.row : undefined;
      const count = present?.count ?? (await tx.get("archived", [id, generation]))?.count;
      if (count === undefined) return undefined;
      return parseLog(await readMessages(tx, id, { generation, from: 0, to: count }), 0).messages;
    });
  }

  /** Runs one piece of work at a time for the same actor and session (S13). */
  async synchronize<T>(id: string, scope: Scope, work: () => Promise<T>): Promise<T> {
    const name = JSON.stringify([checkScope(id, scope) ?? null, id]);
    checkWork(work);
    return this.#queue.run(name, () => this.#exclusively(name, work));
  }

  /** Notes the operation with the writes that `work` calls before its first await (S15). */
  async withOperationContext<T>(operationId: string | undefined, work: () => Promise<T>): Promise<T> {
    if (operationId !== undefined && typeof operationId !== "string") {
      throw invalidInput("operationId", `must be text, not ${nameOf(operationId)}`);
    }
    checkWork(work);
    const outer = this.#operationId;
    this.#operationId = operationId;
    let running: Promise<T>;
    try {
      running = work();
    } finally {
      this.#operationId = outer;
    }
    return running;
  }

  async #find(
    tx: Reader<LocalRows>,
    id: string,
    actorId: string | undefined,
  ): Promise<FoundSession | undefined> {
    const found = await readSession(tx, id);
    if (found === undefined) return undefined;
    refuseOthers(found.row, actorId);
    return { ...found, log: await this.#logs.read(tx, id, found.row) };
  }

  /** Makes a new id the actor's, unless somebody was faster. */
  async #claim(tx: Writer<LocalRows>, id: string, actorId: string): Promise<FoundSession | undefined> {
    const found = await this.#find(tx, id, actorId);
    if (found !== undefined) return found;
    await tx.put("sessions", { id, actorId, written: false, ...EMPTY_REVISION, state: {}, metadata: {} });
    return undefined;
  }
}

async function put(
  tx: Writer<LocalRows>,
  id: string,
  {
    given,
    revision,
    operationId,
  }: { given: CheckedWrite; revision: Revision; operationId: string | undefined },
  before: SoundSession | undefined,
): Promise<SoundSession> {
  const { actorId = null, state, metadata } = given;
  const row = { id, actorId, written: true, ...revision, state, metadata, ...named(operationId) };
  await putSession(tx, row, before);
  return { row, damaged: [] };
}

function snapshotOf({ row, damaged }: SoundSession, log: CachedLog): Snapshot {
  const all = [...damaged, ...log.damaged];
  return Object.freeze({
    messages: log.messages,
    state: cloneJson(row.state),
    metadata: freezeJson(row.metadata),
    revision: Object.freeze(revisionOf({ row })),
    ...(all.length === 0 ? {} : { damaged: Object.freeze(all) }),
  });
}

function revisionOf(session: { readonly row: LocalSessionRow } | undefined): Revision {
  if (session === undefined) return EMPTY_REVISION;
  return { generation: session.row.generation, count: session.row.count };
}

function refuseMoved(expected: Revision, actual: Revision): void {
  if (expected.generation === actual.generation && expected.count === actual.count) return;
  throw new ConflictError(undefined, { expected, actual });
}

function refuseOthers(row: LocalSessionRow, actorId: string | undefined): void {
  if (row.actorId !== (actorId ?? null)) throw new ActorMismatchError();
}

function named(operationId: string | undefined): { readonly operationId?: string } {
  return operationId === undefined ? {} : { operationId };
}
