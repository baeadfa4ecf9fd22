import { StorageError } from "../../src/model/errors.ts";
import type { PositionMark } from "../../src/wire/hello.ts";
import type { GenerationEntry } from "../../src/wire/log.ts";
import { nextTurn } from "../node-env.ts";
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
import { entryOf } from "./entry.ts";
import { Log } from "./log.ts";
import { answerGeneration, answerPull, refusalWithTail } from "./reading.ts";
import { sqliteDriver, sqliteError } from "./sqlite-driver.ts";
import { openSqliteFile, type SqliteFile } from "./sqlite-file.ts";
import { type CachedSession, SqliteHeads } from "./sqlite-heads.ts";
import { SqliteMarks } from "./sqlite-marks.ts";
import { checkSqliteOptions, type SqliteStorageOptions } from "./sqlite-options.ts";
import { number, sessionRowOf, text } from "./sqlite-rows.ts";
import { prepareStatements, type Statements } from "./sqlite-statements.ts";

/**
 * A storage in one SQLite file, for one relay process. Writes of one turn of the event loop are committed together,
 * those of all sessions, and answered after the commit.
 * @throws InvalidInputError
 */
export function sqliteStorage(options: SqliteStorageOptions): RelayStorage {
  checkSqliteOptions(options);
  return new SqliteRelayStorage(options);
}

interface Opened {
  readonly at: "open";
  readonly file: SqliteFile;
  readonly host: StorageHost;
  readonly statements: Statements;
  readonly heads: SqliteHeads;
  readonly marks: SqliteMarks;
}
interface Queued {
  readonly write: Write;
  readonly answer: (answer: Answer) => void;
}

class SqliteRelayStorage implements RelayStorage {
  readonly #options: SqliteStorageOptions;
  #state: Opened | { readonly at: "closed" } = { at: "closed" };
  #queue: Queued[] = [];

  constructor(options: SqliteStorageOptions) {
    this.#options = options;
  }

  async open(host: StorageHost): Promise<{ storeId: string }> {
    if (this.#state.at === "open")
      throw new StorageError("The storage is open already", { reason: "blocked" });
    const {
      path,
      durability = host.durability,
      driver = sqliteDriver(),
      maxCachedHeads = 20_000,
    } = this.#options;
    const { reporter } = host;
    const file = openSqliteFile({ path, driver, durability, newStoreId: host.newId(), reporter });
    const statements = prepareStatements(file.database);
    const heads = new SqliteHeads(statements, maxCachedHeads);
    const marks = new SqliteMarks(statements, { mark: host.newId(), maxCached: maxCachedHeads });
    this.#state = { at: "open", file, host, statements, heads, marks };
    return { storeId: file.storeId };
  }

  async close(): Promise<void> {
    const opened = this.#state;
    if (opened.at === "closed") return;
    this.#commitQueue();
    this.#state = { at: "closed" };
    opened.file.close();
  }

  apply(write: Write): Promise<Answer> {
    return new Promise((answer, reject) => {
      if (this.#state.at === "closed") {
        reject(closed());
        return;
      }
      if (this.#queue.length === 0) nextTurn(() => this.#commitQueue());
      this.#queue.push({ write, answer });
    });
  }

  async position(actor: string): Promise<number> {
    return this.#read(({ heads }) => heads.actor(actor).position);
  }

  async marks(actor: string): Promise<readonly PositionMark[]> {
    return this.#read(({ heads, marks }) => marks.list(actor, heads.actor(actor).position));
  }

  async catalog(actor: string, question: CatalogQuestion): Promise<CatalogAnswer> {
    return this.#read(({ heads, statements }) => {
      const { position } = heads.actor(actor);
      const after = question.cursor > position ? 0 : question.cursor;
      const rows = statements.changedSessions.all(actor, after, question.maxEntries + 1);
      const entries = rows.map((row) => entryOf(text(row, "id"), sessionRowOf(row)));
      return pageOfEntries(entries, question, position);
    });
  }

  async pull(place: SessionPlace, question: PullQuestion): Promise<PullAnswer | Absent> {
    return this.#readSession(place, (session, { heads }) => {
      const rows = heads.rows(session);
      return answerPull(question, { row: session.row, log: new Log(rows), state: rows });
    });
  }

  async readGeneration(place: LifePlace, question: GenerationQuestion): Promise<GenerationAnswer | Absent> {
    return this.#readSession(place, (session, { heads }) =>
      answerGeneration(question, new Log(heads.rows(session))),
    );
  }

  async listGenerations(place: LifePlace, maxEntries: number): Promise<readonly GenerationEntry[] | Absent> {
    return this.#readSession(place, (session, { heads }) => heads.rows(session).listGenerations(maxEntries));
  }

  async loadState(place: SessionPlace): Promise<StateLoaded | Absent> {
    return this.#readSession(place, (session, { heads }) => ({
      incarnation: session.row.incarnation,
      updates: [...heads.rows(session).updatesFrom(0)].map(({ update }) => update),
      cursor: session.row.stateCursor,
    }));
  }

  async compactState(place: LifePlace, compacted: { upTo: number; merged: Uint8Array }): Promise<void> {
    const { upTo, merged } = compacted;
    this.#readSession(place, (session, opened) => {
      this.#transact(opened, () => {
        const { statements, heads } = opened;
        statements.dropState.run(session.pk, upTo);
        statements.addState.run(session.pk, upTo, merged);
        const measured = statements.measureState.get(session.pk) ?? {};
        const [stateUpdates, stateBytes] = [number(measured, "updates"), number(measured, "bytes")];
        heads.changeSession({ actor: place.actor, id: place.session }, session, {
          ...session.row,
          stateUpdates,
          stateBytes,
        });
      });
      return undefined;
    });
  }

  async probe(): Promise<void> {
    this.#read((opened) =>
      this.#transact(opened, () => opened.statements.putMeta.run("probed", String(opened.host.now()))),
    );
  }

  async inspect(): Promise<StorageTotals> {
    return this.#read(({ statements }) => {
      const row = statements.totals.get() ?? {};
      return {
        sessions: number(row, "sessions"),
        messages: number(row, "messages"),
        bytes: number(row, "bytes"),
      };
    });
  }

  /** Everything that is queued, in one transaction; answers go out when it is durable. */
  #commitQueue(): void {
    const queue = this.#queue;
    this.#queue = [];
    const opened = this.#state;
    if (queue.length === 0 || opened.at === "closed") return;
    const answers = this.#commit(opened, queue) ?? this.#commitOneByOne(opened, queue);
    for (const [index, { answer }] of queue.entries()) answer(answers[index] ?? NOT_STORED);
  }

  /** A write that cannot be stored must not take those down that were queued beside it. */
  #commitOneByOne(opened: Opened, queue: readonly Queued[]): readonly (Answer | undefined)[] {
    return queue.length === 1 ? [] : queue.map((one) => this.#commit(opened, [one])?.[0]);
  }

  #commit(opened: Opened, queue: readonly Queued[]): readonly Answer[] | undefined {
    try {
      return this.#transact(opened, () => queue.map(({ write }) => this.#apply(opened, write)));
    } catch (error) {
      // Nothing of it is stored. Each write is tried alone then, and answered `try-again` if it fails alone, too.
      opened.host.reporter.report("error", "commit-failed", { writes: queue.length, error: String(error) });
      return undefined;
    }
  }

  #transact<T>({ file, heads, marks }: Opened, work: () => T): T {
    file.database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      heads.write();
      file.database.exec("COMMIT");
      return result;
    } catch (error) {
      heads.forget();
      marks.forget();
      rollBack(file);
      throw sqliteError(error, this.#options.path);
    }
  }

  #apply({ host, heads, marks }: Opened, write: Write): Answer {
    const { actor, session: id } = write;
    const opId = write.kind === "state" ? undefined : write.opId;
    const session = heads.session(actor, id);
    const rows = heads.rows(session);
    const log = new Log(rows);
    const { position, living } = heads.actor(actor);
    const nowMs = host.now();
    const decision = decide(write, {
      session: session?.row,
      known: opId === undefined ? undefined : rows.knownOp(opId),
      log,
      position,
      liveSessions: living,
      nowMs,
      newId: host.newId,
      limits: host.limits,
    });
    if (decision.act === "answer") return decision.answer;
    if (decision.act === "refuse") return refusalWithTail(decision, log, host.limits);
    const { commit } = decision;
    const changed = heads.changeSession({ actor, id }, session, commit.next);
    heads.rows(changed).write(commit, { opId, atMs: nowMs });
    if (commit.answer.seq > 0) marks.change(actor, position);
    if (commit.answer.seq > 0 || commit.living !== 0) {
      heads.changeActor(actor, {
        position: Math.max(position, commit.answer.seq),
        living: living + commit.living,
      });
    }
    return commit.answer;
  }

  #read<T>(work: (opened: Opened) => T): T {
    if (this.#state.at === "closed") throw closed();
    try {
      return work(this.#state);
    } catch (error) {
      throw sqliteError(error, this.#options.path);
    }
  }

  #readSession<T>(place: SessionPlace, work: (session: CachedSession, opened: Opened) => T): T | Absent {
    return this.#read((opened) => {
      const session = opened.heads.session(place.actor, place.session);
      if (session === undefined) return { absent: "unknown-session" };
      const { deleted, incarnation } = session.row;
      if (deleted || (place.incarnation !== null && place.incarnation !== incarnation))
        return { absent: "deleted" };
      return work(session, opened);
    });
  }
}

function rollBack(file: SqliteFile): void {
  try {
    file.database.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself, as it does when the disk is full: the first error is the one that counts.
  }
}

function closed(): StorageError {
  return new StorageError("The storage is closed", { reason: "closed" });
}

const NOT_STORED: Answer = {
  ok: false,
  code: "try-again",
  message: "The relay's storage could not take this now",
};
