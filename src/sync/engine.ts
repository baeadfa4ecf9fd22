import type { Environment } from "../env/environment.ts";
import type { Head } from "../model/revision.ts";
import { confirmOp } from "../store/confirm.ts";
import type { LocalDatabase, Writer } from "../store/database.ts";
import {
  integrateEntry,
  integratePage,
  integratePush,
  integrateRefusal,
  isCaughtUp,
  judgeRefused,
  newOutcome,
  type Outcome,
} from "../store/integrate.ts";
import { findSession, SESSION_TABLES } from "../store/session-rows.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import { FAULTS } from "../wire/fault.ts";
import type { OpFrame } from "../wire/frames.ts";
import type { Welcome } from "../wire/hello.ts";
import type { Page } from "../wire/log.ts";
import { drawDelayMs, retryDelay } from "./backoff.ts";
import { EMPTY_LANE, type Lane, laneAnswered, laneSent, nextStep } from "./lane.ts";
import type { Link } from "./link.ts";
import type { LinkFrame } from "./link-events.ts";

/** So many frames at most become one transaction. */
const MAX_BATCH = 64;
/** So many sessions at most are pulled at once. */
const MAX_PULLS = 4;

/** The frames that change what is stored. */
type Told = Extract<LinkFrame, { type: "ack" | "refusal" | "push" | "page" | "catalog-page" }>;

export interface EngineOptions {
  readonly db: LocalDatabase<SyncRows>;
  readonly link: Link;
  readonly env: Environment;
  readonly newId: () => string;
  /** Whether an open and synced channel brings this session's state (rule P55). */
  readonly channelCovers: (session: string) => boolean;
  /** The catalog has been read on this connection, or the connection is gone. */
  readonly freshnessChanged: () => void;
  /** Something was acknowledged or pulled: in sync as far as the relay has told. */
  readonly synced: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Brings the relay's log and catalog here and the outbox there. What it hears becomes transactions, in the order it
 * came; what it says follows from what is stored. It keeps nothing across connections.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #inbox: Told[] = [];
  readonly #pulls = new Map<string, { readonly session: string; readonly have: Head | null }>();
  readonly #waiting = new Set<string>();
  readonly #ends: (() => void)[] = [];
  readonly #timers = new Set<() => void>();
  #working: Promise<void> | undefined;
  /** Counts connections: what belongs to an older one is dropped. */
  #connection = 0;
  #phase: "offline" | "greeting" | "catalog" | "live" = "offline";
  #catalogId: string | undefined;
  #cursor = 0;
  /** The cursor of the catalog request that is open, or was last. */
  #askedFrom = 0;
  /** The furthest position heard of while it could not be taken. */
  #heardOf = 0;
  #retries = 0;
  #closed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  start(): void {
    const { link, db } = this.#options;
    this.#ends.push(
      link.watch({
        online: (welcome) => this.#online(welcome),
        offline: () => this.#offline(),
        frame: (frame) => this.#heard(frame),
      }),
      db.watch(({ tables, sessions }) => {
        if (tables.has("outbox")) for (const session of sessions) this.#wake(session);
      }),
    );
  }

  /** Whether the catalog exchange of this connection is done. */
  get isFresh(): boolean {
    return this.#phase === "live";
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends) end();
    this.#offline();
    await this.#working;
  }

  #online(welcome: Welcome): void {
    this.#reset();
    this.#retries = 0;
    this.#phase = "greeting";
    this.#greet(welcome);
  }

  #greet(welcome: Welcome): void {
    const connection = this.#connection;
    this.#run(async () => {
      const cursor = await this.#options.db.write(["meta"], (tx) => greet(tx, welcome));
      if (connection !== this.#connection) return;
      this.#cursor = cursor;
      this.#phase = "catalog";
      this.#askCatalog();
    });
  }

  #offline(): void {
    this.#reset();
    this.#phase = "offline";
    this.#options.freshnessChanged();
  }

  #reset(): void {
    this.#connection += 1;
    this.#lanes.clear();
    this.#inbox.length = 0;
    this.#pulls.clear();
    this.#catalogId = undefined;
    this.#heardOf = 0;
    for (const stop of this.#timers) stop();
    this.#timers.clear();
  }

  #heard(frame: LinkFrame): void {
    switch (frame.type) {
      case "push":
        // Until the catalog is read, pushes are only heard of (rule P32).
        if (this.#phase !== "live") {
          this.#heardOf = Math.max(this.#heardOf, frame.entry.seq);
          return;
        }
        break;
      case "ack":
      case "refusal":
      case "page":
      case "catalog-page":
        break;
      case "not-answered":
        this.#notAnswered(frame.id);
        return;
      default:
        return;
    }
    this.#inbox.push(frame);
    this.#run(() => this.#takeInbox());
  }

  /** One thing after another: frames in their order, and what follows from them. */
  #run(work: () => Promise<void>): void {
    const guarded = async (): Promise<void> => {
      if (this.#closed) return;
      try {
        await work();
      } catch (error) {
        if (this.#closed) return;
        this.#options.failed(error);
        if (this.#phase !== "offline") this.#beginAgain();
      }
    };
    this.#working = (this.#working ?? Promise.resolve()).then(guarded);
  }

  /** What was lost with a failed transaction is asked for anew, after a while; what was in flight is sent again. */
  #beginAgain(): void {
    this.#reset();
    this.#phase = "greeting";
    this.#later(() => {
      const { welcome } = this.#options.link;
      if (welcome !== undefined) this.#greet(welcome);
    });
  }

  async #takeInbox(): Promise<void> {
    const batch = this.#inbox.splice(0, MAX_BATCH);
    if (batch.length === 0) return;
    const connection = this.#connection;
    const outcome = newOutcome();
    const before = this.#cursor;
    try {
      await this.#options.db.write(SESSION_TABLES, async (tx) => {
        for (const frame of batch) await this.#take(tx, frame, outcome);
        if (this.#cursor !== before) await tx.put("meta", { key: "cursor", value: this.#cursor });
      });
    } catch (error) {
      this.#cursor = before;
      throw error;
    }
    if (connection !== this.#connection) return;
    for (const frame of batch) this.#answered(frame);
    this.#follow(batch, outcome);
  }

  async #take(tx: Writer<SyncRows>, frame: Told, outcome: Outcome): Promise<void> {
    const around = { at: this.#now(), newId: this.#options.newId };
    switch (frame.type) {
      case "ack":
        await confirmOp(tx, frame, outcome, around);
        this.#passed(frame.seq);
        return;
      case "refusal":
        return integrateRefusal(tx, frame, outcome, around);
      case "push": {
        const channelCovers = this.#options.channelCovers(frame.entry.session);
        await integratePush(tx, frame, outcome, { ...around, channelCovers });
        this.#passed(frame.entry.seq);
        return;
      }
      case "page":
        return integratePage(tx, frame, this.#pulls.get(frame.id)?.have ?? null, outcome, around);
      case "catalog-page":
        if (frame.id !== this.#catalogId) return;
        for (const entry of frame.entries) await integrateEntry(tx, entry, outcome, around);
        this.#cursor = Math.max(this.#cursor, frame.cursor);
        return;
    }
  }

  /** The cursor moves only without a gap: it never passes a change that was not stored here (rules P42, P44). */
  #passed(seq: number): void {
    if (seq === this.#cursor + 1) this.#cursor = seq;
    else if (seq > this.#cursor) this.#heardOf = Math.max(this.#heardOf, seq);
  }

  #answered(frame: Told): void {
    if (frame.type === "ack" || frame.type === "refusal") {
      const lane = laneAnswered(this.#lane(frame.session), frame.opId);
      this.#lanes.set(frame.session, lane);
      const patience = frame.type === "refusal" && FAULTS[frame.code].remedy === "retry";
      if (patience) this.#rest(frame.session);
      else this.#retries = 0;
    }
    if (frame.type === "page") this.#pullEnded(frame);
  }

  #follow(batch: readonly Told[], outcome: Outcome): void {
    for (const session of outcome.gone) this.#lanes.delete(session);
    for (const session of outcome.pull) this.#lanes.set(session, { ...this.#lane(session), behind: true });
    const sessions = new Set<string>([...outcome.pull, ...outcome.gone]);
    for (const frame of batch) {
      if (frame.type === "catalog-page") this.#catalogRead(frame.id, frame.more);
      else if (frame.type === "push") sessions.add(frame.entry.session);
      else sessions.add(frame.session);
    }
    for (const op of outcome.refused) {
      const frame = batch.find((told) => told.type === "refusal" && told.opId === op);
      if (frame?.type !== "refusal") continue;
      const lane = this.#lane(frame.session);
      this.#lanes.set(frame.session, { ...lane, refused: new Set([...lane.refused, op]) });
    }
    if (this.#phase === "live" && this.#heardOf > this.#cursor) this.#askCatalog();
    this.#options.synced();
    for (const session of sessions) this.#wake(session);
  }

  #askCatalog(): void {
    if (this.#catalogId !== undefined) return;
    this.#catalogId = this.#options.newId();
    this.#askedFrom = this.#cursor;
    this.#options.link.send({ type: "catalog", id: this.#catalogId, cursor: this.#cursor });
  }

  #catalogRead(id: string, more: boolean): void {
    if (id !== this.#catalogId) return;
    this.#catalogId = undefined;
    if (more || this.#heardOf > this.#cursor) {
      // An answer that leads no further is not asked for again at once.
      if (more || this.#cursor > this.#askedFrom) this.#askCatalog();
      else this.#later(() => this.#askCatalog());
      return;
    }
    if (this.#phase !== "catalog") return;
    this.#phase = "live";
    this.#options.freshnessChanged();
    this.#run(() => this.#wakeAll());
  }

  /** After the catalog: every session that has something to send or to fetch, most recently used first. */
  async #wakeAll(): Promise<void> {
    const { behind, pending } = await this.#options.db.read(["sessions", "outbox"], async (tx) => {
      const rows = await tx.list("sessions", { by: "recent", reverse: true });
      const ops = await tx.list("outbox");
      const missing = rows.filter((row) => row.incarnation !== null && !isCaughtUp(row)).map(({ id }) => id);
      return { behind: missing, pending: new Set(ops.map(({ session }) => session)) };
    });
    for (const session of behind) this.#lanes.set(session, { ...this.#lane(session), behind: true });
    for (const session of new Set([...behind, ...pending])) this.#wake(session);
  }

  #wake(session: string): void {
    if (this.#phase !== "live" || this.#waiting.has(session)) return;
    this.#waiting.add(session);
    this.#run(async () => {
      this.#waiting.delete(session);
      await this.#advance(session);
    });
  }

  async #advance(session: string): Promise<void> {
    if (this.#phase !== "live") return;
    const connection = this.#connection;
    const { db, link } = this.#options;
    const found = await db.read(["sessions", "outbox"], (tx) => findSession(tx, session));
    if (found === undefined || connection !== this.#connection) return;
    const lane = this.#lane(session);
    const step = nextStep(lane, found);
    switch (step.do) {
      case "wait":
        return;
      case "pull":
        return this.#pull(session, found.row.incarnation, found.row.head, found.row.stateCursor);
      case "judge":
        return this.#judge(session, lane.refused);
      case "send":
        this.#lanes.set(session, laneSent(lane, step.frames));
        for (const frame of step.frames) if (link.send(frame) === "too-large") this.#refuseHere(frame);
    }
  }

  /** The relay would not even read it: its limit was told at the welcome. */
  #refuseHere({ opId, session }: OpFrame): void {
    const message = "The op is larger than maxOpBytes allows";
    this.#inbox.push({ type: "refusal", opId, session, code: "too-large", message });
    this.#run(() => this.#takeInbox());
  }

  #pull(session: string, incarnation: string | null, head: Head, stateCursor: number): void {
    if (this.#pulls.size >= MAX_PULLS) return;
    const id = this.#options.newId();
    this.#pulls.set(id, { session, have: head });
    this.#lanes.set(session, { ...this.#lane(session), pulling: true, behind: false });
    this.#options.link.send({ type: "pull", id, session, incarnation, have: head, stateCursor });
  }

  #pullEnded(page: Page): void {
    this.#pulls.delete(page.id);
    const lane = this.#lane(page.session);
    this.#lanes.set(page.session, { ...lane, pulling: false });
    this.#wake(page.session);
    for (const [session, { behind, pulling }] of this.#lanes) if (behind && !pulling) this.#wake(session);
  }

  #notAnswered(id: string): void {
    if (id === this.#catalogId) {
      this.#catalogId = undefined;
      this.#later(() => this.#askCatalog());
      return;
    }
    const pull = this.#pulls.get(id);
    if (pull === undefined) return;
    this.#pulls.delete(id);
    const { session } = pull;
    this.#lanes.set(session, { ...this.#lane(session), pulling: false });
    // Gone or unknown: the catalog says so in its turn. Else it is asked for again.
    this.#later(() => {
      this.#askCatalog();
      this.#run(() => this.#wakeAll());
    });
  }

  async #judge(session: string, refused: ReadonlySet<string>): Promise<void> {
    const outcome = newOutcome();
    const around = { at: this.#now(), newId: this.#options.newId };
    await this.#options.db.write(SESSION_TABLES, (tx) => judgeRefused(tx, session, refused, outcome, around));
    this.#lanes.set(session, { ...this.#lane(session), refused: new Set() });
    this.#wake(session);
  }

  #rest(session: string): void {
    this.#lanes.set(session, { ...this.#lane(session), resting: true });
    this.#later(() => {
      this.#lanes.set(session, { ...this.#lane(session), resting: false });
      this.#wake(session);
    });
  }

  #later(work: () => void): void {
    const { clock, random } = this.#options.env;
    const stop = clock.after(drawDelayMs(retryDelay(this.#retries), random.fraction()), () => {
      this.#timers.delete(stop);
      work();
    });
    this.#retries += 1;
    this.#timers.add(stop);
  }

  #lane(session: string): Lane {
    return this.#lanes.get(session) ?? EMPTY_LANE;
  }

  #now(): string {
    return new Date(this.#options.env.clock.now()).toISOString();
  }
}

/** Takes note of the relay's storage and limits, and tells from where to read its catalog (rule P7). */
async function greet(tx: Writer<SyncRows>, welcome: Welcome): Promise<number> {
  const storeId = (await tx.get("meta", ["storeId"]))?.value;
  const cursor = (await tx.get("meta", ["cursor"]))?.value;
  await tx.put("meta", { key: "limits", value: welcome.limits });
  if (storeId === welcome.storeId && typeof cursor === "number" && cursor <= welcome.cursor) return cursor;
  await tx.put("meta", { key: "storeId", value: welcome.storeId });
  await tx.put("meta", { key: "cursor", value: 0 });
  return 0;
}
