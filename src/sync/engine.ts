import type { Environment } from "../env/environment.ts";
import { confirmOp } from "../store/confirm.ts";
import type { LocalDatabase, Writer } from "../store/database.ts";
import { greet } from "../store/greeting.ts";
import { integrateEntry, integratePage, integratePush } from "../store/integrate.ts";
import { newOutcome, type Outcome, type Surroundings } from "../store/outcome.ts";
import { integrateRefusal } from "../store/refuse.ts";
import { SESSION_TABLES } from "../store/session-rows.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import { FAULTS } from "../wire/fault.ts";
import type { Welcome } from "../wire/hello.ts";
import { type DelayRange, drawDelayMs, retryDelay } from "./backoff.ts";
import { CatalogCursor } from "./catalog-cursor.ts";
import { Lanes } from "./lanes.ts";
import type { Link } from "./link.ts";
import { isTold, type LinkFrame, type ToldFrame as Told } from "./link-events.ts";

/** So many frames at most become one transaction. */
const MAX_BATCH = 64;

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
  readonly #inbox: Told[] = [];
  readonly #ends: (() => void)[] = [];
  readonly #timers = new Set<() => void>();
  #working: Promise<void> = Promise.resolve();
  /** Of the present connection: another one for each. */
  #lanes: Lanes;
  #phase: "offline" | "greeting" | "catalog" | "live" = "offline";
  #catalogId: string | undefined;
  readonly #cursor = new CatalogCursor();
  #retries = 0;
  #closed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#lanes = this.#newLanes();
  }

  start(): void {
    const { link, db } = this.#options;
    this.#ends.push(
      link.watch({
        online: (welcome) => this.#online(welcome),
        offline: () => this.#offline(),
        frame: (frame) => this.#heard(frame),
      }),
      db.watch((change) => this.#lanes.changed(change)),
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
    const lanes = this.#lanes;
    this.#run(async () => {
      const cursor = await this.#options.db.write(["meta", "sessions"], (tx) => greet(tx, welcome));
      if (lanes !== this.#lanes) return;
      this.#cursor.begin(cursor);
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
    this.#lanes.end();
    this.#lanes = this.#newLanes();
    this.#inbox.length = 0;
    this.#catalogId = undefined;
    this.#cursor.forget();
    for (const stop of this.#timers) stop();
    this.#timers.clear();
  }

  #newLanes(): Lanes {
    const { db, link } = this.#options;
    return new Lanes({
      db,
      link,
      around: () => this.#around(),
      run: (work) => this.#run(work),
      later: (work, bounds) => this.#later(work, bounds),
      unsendable: ({ opId, session }) => {
        // The relay would not even read it: its limit was told at the welcome.
        const message = "The op is larger than maxOpBytes allows";
        this.#inbox.push({ type: "refusal", opId, session, code: "too-large", message });
        this.#run(() => this.#takeInbox());
      },
    });
  }

  #heard(frame: LinkFrame): void {
    if (frame.type === "not-answered") this.#notAnswered(frame.id);
    if (!isTold(frame)) return;
    if (frame.type === "push" && this.#phase !== "live") {
      // Until the catalog is read, pushes are only heard of (rule P32).
      this.#cursor.heard(frame.entry.seq);
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
    this.#working = this.#working.then(guarded);
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
    const lanes = this.#lanes;
    const outcome = newOutcome();
    const before = this.#cursor.position;
    try {
      await this.#options.db.write(SESSION_TABLES, async (tx) => {
        for (const frame of batch) await this.#take(tx, frame, outcome);
        const { position } = this.#cursor;
        if (position !== before) await tx.put("meta", { key: "cursor", value: position });
      });
    } catch (error) {
      this.#cursor.back(before);
      throw error;
    }
    if (lanes !== this.#lanes) return;
    for (const frame of batch) this.#answered(frame);
    this.#follow(batch, outcome);
  }

  async #take(tx: Writer<SyncRows>, frame: Told, outcome: Outcome): Promise<void> {
    const around = this.#around();
    switch (frame.type) {
      case "ack":
        await confirmOp(tx, frame, outcome, around, this.#lanes.outboxes);
        this.#cursor.took(frame.seq);
        return;
      case "refusal":
        return integrateRefusal(tx, frame, outcome, around);
      case "push": {
        const channelCovers = this.#options.channelCovers(frame.entry.session);
        const follows = frame.entry.seq === this.#cursor.position + 1;
        await integratePush(tx, frame, outcome, { ...around, channelCovers, follows });
        this.#cursor.took(frame.entry.seq);
        return;
      }
      case "page":
        return integratePage(tx, frame, this.#lanes.haveOf(frame.id), outcome, around);
      case "catalog-page":
        if (frame.id !== this.#catalogId) return;
        for (const entry of frame.entries) await integrateEntry(tx, entry, outcome, around);
        this.#cursor.read(frame.cursor);
        return;
    }
  }

  #answered(frame: Told): void {
    if (frame.type === "page") this.#lanes.pulled(frame.id);
    if (frame.type !== "ack" && frame.type !== "refusal") return;
    const patience = frame.type === "refusal" && FAULTS[frame.code].remedy === "retry";
    if (!patience) this.#retries = 0;
    if (frame.type === "ack") this.#lanes.accepted(frame.session, frame.opId);
    else this.#lanes.refusedFor(frame.session, frame.opId, patience);
  }

  #follow(batch: readonly Told[], outcome: Outcome): void {
    const lanes = this.#lanes;
    for (const session of outcome.gone) lanes.gone(session);
    for (const session of outcome.pull) lanes.fallenBehind(session);
    for (const frame of batch) {
      if (frame.type === "refusal" && outcome.refused.has(frame.opId))
        lanes.refused(frame.session, frame.opId);
      if (frame.type === "catalog-page") this.#catalogRead(frame.id, frame.more);
    }
    if (this.#phase === "live" && this.#cursor.misses && this.#catalogId === undefined) {
      // An answer that led no further is not asked for again at once.
      const vain = batch.some(({ type }) => type === "catalog-page") && !this.#cursor.ledFurther;
      if (vain) this.#later(() => this.#askCatalog());
      else this.#askCatalog();
    }
    this.#options.synced();
    const told = batch.flatMap((frame) =>
      "session" in frame ? [frame.session] : "entry" in frame ? [frame.entry.session] : [],
    );
    for (const session of new Set([...outcome.pull, ...outcome.gone, ...told])) lanes.wake(session);
  }

  #askCatalog(): void {
    if (this.#catalogId !== undefined) return;
    this.#catalogId = this.#options.newId();
    this.#cursor.asked();
    this.#options.link.send({ type: "catalog", id: this.#catalogId, cursor: this.#cursor.position });
  }

  #catalogRead(id: string, more: boolean): void {
    if (id !== this.#catalogId) return;
    this.#catalogId = undefined;
    if (more) this.#askCatalog();
    else if (this.#phase === "catalog") {
      // What was told meanwhile is asked for beside all else: on a busy account something always is.
      this.#phase = "live";
      this.#options.freshnessChanged();
      this.#run(() => this.#lanes.begin());
    }
  }

  #notAnswered(id: string): void {
    if (id === this.#catalogId) {
      this.#catalogId = undefined;
      this.#later(() => this.#askCatalog());
      return;
    }
    if (!this.#lanes.pulled(id)) return;
    // Gone or unknown: the catalog says so in its turn. Else it is asked for again.
    this.#later(() => {
      this.#askCatalog();
      this.#run(() => this.#lanes.begin());
    });
  }

  #later(work: () => void, bounds?: DelayRange): void {
    const { clock, random } = this.#options.env;
    const range = bounds ?? retryDelay(this.#retries);
    const stop = clock.after(drawDelayMs(range, random.fraction()), () => {
      this.#timers.delete(stop);
      work();
    });
    if (bounds === undefined) this.#retries += 1;
    this.#timers.add(stop);
  }

  #around(): Surroundings {
    const { env, newId } = this.#options;
    return { at: new Date(env.clock.now()).toISOString(), newId };
  }
}
