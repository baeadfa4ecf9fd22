import { StorageError } from "../../src/model/errors.ts";
import { utf8Bytes } from "../../src/wire/codec.ts";
import type { GenerationEntry } from "../../src/wire/log.ts";
import { pageOfEntries } from "./catalog-page.ts";
import type {
  Absent,
  Answer,
  CatalogAnswer,
  CatalogQuestion,
  GenerationAnswer,
  GenerationQuestion,
  LifePlace,
  PullAnswer,
  PullQuestion,
  RelayStorage,
  SessionPlace,
  StateLoaded,
  StorageHost,
  StorageTotals,
  Write,
} from "./contract.ts";
import { decide } from "./decide.ts";
import type { Commit } from "./decision.ts";
import { entryOf } from "./entry.ts";
import { MemorySession } from "./memory-session.ts";
import { answerGeneration, answerPull, refusalWithTail } from "./reading.ts";

/**
 * A storage in memory: for tests, and for relays that may forget. What it holds outlives `close`, so that a relay can
 * be started again on it. Everything resolves within microtasks, in the order it was asked.
 */
export function memoryStorage(): RelayStorage {
  return new MemoryRelayStorage();
}

interface Actor {
  position: number;
  living: number;
  readonly sessions: Map<string, MemorySession>;
}

class MemoryRelayStorage implements RelayStorage {
  readonly #actors = new Map<string, Actor>();
  #host: StorageHost | undefined;
  #storeId: string | undefined;

  async open(host: StorageHost): Promise<{ storeId: string }> {
    this.#host = host;
    this.#storeId ??= host.newId();
    return { storeId: this.#storeId };
  }

  async close(): Promise<void> {
    this.#host = undefined;
  }

  async apply(write: Write): Promise<Answer> {
    const host = this.#opened();
    const known = this.#actors.get(write.actor);
    const actor = known ?? { position: 0, living: 0, sessions: new Map() };
    const held = actor.sessions.get(write.session);
    const session = held ?? new MemorySession();
    const decision = decide(write, {
      session: session.row,
      known: write.kind === "state" ? undefined : session.ops.get(write.opId),
      log: session.log,
      position: actor.position,
      liveSessions: actor.living,
      nowMs: host.now(),
      newId: host.newId,
      limits: host.limits,
    });
    if (decision.act === "answer") return decision.answer;
    if (decision.act === "refuse") return refusalWithTail(decision, session.log, host.limits);
    const { commit } = decision;
    if (known === undefined) this.#actors.set(write.actor, actor);
    if (held === undefined) actor.sessions.set(write.session, session);
    actor.living += commit.living;
    if (commit.answer.seq > 0) actor.position = commit.answer.seq;
    perform(commit, write, { session, atMs: host.now() });
    return commit.answer;
  }

  async position(actor: string): Promise<number> {
    this.#opened();
    return this.#actors.get(actor)?.position ?? 0;
  }

  async catalog(actor: string, question: CatalogQuestion): Promise<CatalogAnswer> {
    this.#opened();
    const held = this.#actors.get(actor);
    if (held === undefined) return { entries: [], cursor: 0, more: false };
    const after = question.cursor > held.position ? 0 : question.cursor;
    const changed = [...held.sessions]
      .flatMap(([id, { row }]) => (row !== undefined && row.seq > after ? [entryOf(id, row)] : []))
      .sort((one, other) => one.seq - other.seq);
    return pageOfEntries(changed, question, held.position);
  }

  async pull(place: SessionPlace, question: PullQuestion): Promise<PullAnswer | Absent> {
    const found = this.#find(place);
    return "absent" in found
      ? found
      : answerPull(question, { ...found, log: found.session.log, state: found.session });
  }

  async readGeneration(place: LifePlace, question: GenerationQuestion): Promise<GenerationAnswer | Absent> {
    const found = this.#find(place);
    return "absent" in found ? found : answerGeneration(question, found.session.log);
  }

  async listGenerations(place: LifePlace, maxEntries: number): Promise<readonly GenerationEntry[] | Absent> {
    const found = this.#find(place);
    return "absent" in found ? found : found.session.listGenerations(maxEntries);
  }

  async loadState(place: SessionPlace): Promise<StateLoaded | Absent> {
    const found = this.#find(place);
    if ("absent" in found) return found;
    const { row, session } = found;
    return { incarnation: row.incarnation, updates: session.updatesAfter(0), cursor: row.stateCursor };
  }

  async compactState(place: LifePlace, compacted: { upTo: number; merged: Uint8Array }): Promise<void> {
    const found = this.#find(place);
    if (!("absent" in found)) found.session.compact(compacted);
  }

  async inspect(): Promise<StorageTotals> {
    this.#opened();
    const sessions = [...this.#actors.values()].flatMap((actor) => [...actor.sessions.values()]);
    const messages = sessions.flatMap((session) => session.messages());
    return {
      sessions: sessions.filter(({ row }) => row?.deleted === false).length,
      messages: messages.length,
      bytes: messages.reduce((sum, { body }) => sum + utf8Bytes(body), 0),
    };
  }

  #opened(): StorageHost {
    if (this.#host === undefined) throw new StorageError("The storage is closed", { reason: "closed" });
    return this.#host;
  }

  #find(
    place: SessionPlace,
  ): (Absent & { row?: never }) | { session: MemorySession; row: NonNullable<MemorySession["row"]> } {
    this.#opened();
    const session = this.#actors.get(place.actor)?.sessions.get(place.session);
    if (session?.row === undefined) return { absent: "unknown-session" };
    const { row } = session;
    const over = row.deleted || (place.incarnation !== null && place.incarnation !== row.incarnation);
    return over ? { absent: "deleted" } : { session, row };
  }
}

function perform(commit: Commit, write: Write, into: { session: MemorySession; atMs: number }): void {
  const { session, atMs } = into;
  const opId = write.kind === "state" ? undefined : write.opId;
  if (commit.erase) session.erase();
  session.row = commit.next;
  if (commit.archive !== undefined) session.archive(commit.archive, atMs);
  if (commit.begin !== undefined) session.begin(commit.begin, opId);
  if (commit.put !== undefined && opId !== undefined) session.put(commit.put, commit.messages, opId);
  if (commit.state !== undefined) session.addState(commit.next.stateCursor, commit.state);
  if (commit.remember !== undefined && opId !== undefined) session.ops.set(opId, commit.remember);
}
