import type { Head } from "../model/revision.ts";
import type { Change, LocalDatabase } from "../store/database.ts";
import { KnownOutboxes } from "../store/known-outboxes.ts";
import { hurtIn, hurtSessions, mendLog } from "../store/mend.ts";
import { newOutcome, type Surroundings } from "../store/outcome.ts";
import { judgeRefused } from "../store/refuse.ts";
import { isCaughtUp, SESSION_TABLES } from "../store/session-rows.ts";
import type { SessionRow, SyncRows } from "../store/sync-rows.ts";
import type { OpFrame } from "../wire/client-frames.ts";
import { contendedDelay, type DelayRange } from "./backoff.ts";
import { EMPTY_LANE, type Lane, laneAnswered, laneSent, nextStep } from "./lane.ts";
import type { Link } from "./link.ts";
import { noteWhole } from "./whole.ts";

/** So many sessions at most are pulled at once. */
const MAX_PULLS = 4;

export interface LanesOptions {
  readonly db: LocalDatabase<SyncRows>;
  readonly link: Link;
  readonly around: () => Surroundings;
  /** Does one thing after another, with everything else that concerns this connection. */
  readonly run: (work: () => Promise<void>) => void;
  /** Does it after a while: within the bounds, or longer each time in a row. */
  readonly later: (work: () => void, bounds?: DelayRange) => void;
  /** An op that is too large even to be sent. */
  readonly unsendable: (frame: OpFrame) => void;
}

/** All sessions' traffic on one connection: what to fetch, what to send, what to decide, session by session. */
export class Lanes {
  /** What was read of the outbox on this connection. */
  readonly outboxes = new KnownOutboxes();
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #pulls = new Map<string, { readonly session: string; readonly have: Head | null }>();
  readonly #waiting = new Set<string>();
  #live = false;
  /** All that the relay has is known to have been fetched. */
  #whole = false;
  #ended = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** The connection is over; whatever was in flight belongs to the next one. */
  end(): void {
    this.#ended = true;
  }

  /** The catalog is read: every session that has something to fetch or to send begins, most recently used first. */
  async begin(): Promise<void> {
    this.#live = true;
    for (const session of await this.#options.db.read(["meta"], hurtSessions)) await this.#mend(session);
    const { behind, pending } = await this.#options.db.read(["sessions"], async (tx) => {
      const rows = await tx.list("sessions", { by: "recent", reverse: true });
      const missing = rows.filter((row) => row.incarnation !== null && !isCaughtUp(row)).map(({ id }) => id);
      const waiting = rows.filter(({ view }) => view.pending > 0).map(({ id }) => id);
      return { behind: missing, pending: waiting };
    });
    for (const session of behind) this.#set(session, { behind: true });
    for (const session of new Set([...behind, ...pending])) this.wake(session);
    this.#tellQuiet();
  }

  /** What is missing of the session's log, or cannot be read, is fetched again. */
  async #mend(session: string): Promise<void> {
    if (!this.#live || this.#ended) return;
    if (!(await this.#options.db.write(SESSION_TABLES, (tx) => mendLog(tx, session)))) return;
    this.fallenBehind(session);
    this.wake(session);
  }

  /** Rows changed, here or in another tab. */
  changed({ tables, sessions }: Change): void {
    for (const id of sessions) {
      if (tables.has("outbox")) this.wake(id);
      const hurt = tables.has("meta") ? hurtIn(id) : undefined;
      if (hurt !== undefined) this.#options.run(() => this.#mend(hurt));
    }
  }

  /** Something of the session changed: looks what comes next. */
  wake(session: string): void {
    if (!this.#live || this.#ended || this.#waiting.has(session)) return;
    this.#waiting.add(session);
    this.#options.run(async () => {
      this.#waiting.delete(session);
      if (!this.#ended) await this.#advance(session);
    });
  }

  /** The relay acknowledged an op. */
  accepted(session: string, opId: string): void {
    this.#lanes.set(session, { ...laneAnswered(this.#lane(session), opId), losses: 0 });
  }

  /** The relay refused an op; `patience` when it asked to be left alone for a while. */
  refusedFor(session: string, opId: string, patience: boolean): void {
    this.#lanes.set(session, laneAnswered(this.#lane(session), opId));
    if (patience) this.#rest(session);
  }

  /** The op was refused because the head had moved. */
  refused(session: string, opId: string): void {
    this.#set(session, { refused: new Set([...this.#lane(session).refused, opId]) });
  }

  fallenBehind(session: string): void {
    this.#set(session, { behind: true });
  }

  gone(session: string): void {
    this.#lanes.delete(session);
  }

  /** What a pull said was held; null for one that is not known. */
  haveOf(pull: string): Head | null {
    return this.#pulls.get(pull)?.have ?? null;
  }

  /** The pull is over. Tells whether it was one of these. */
  pulled(pull: string): boolean {
    const session = this.#pulls.get(pull)?.session;
    if (session === undefined) return false;
    this.#pulls.delete(pull);
    this.#set(session, { pulling: false });
    this.wake(session);
    for (const [other, { behind, pulling }] of this.#lanes) if (behind && !pulling) this.wake(other);
    return true;
  }

  /** Nothing is being fetched, and nothing is known to be missing. */
  #tellQuiet(): void {
    if (this.#whole) return;
    for (const { behind, pulling } of this.#lanes.values()) if (behind || pulling) return;
    this.#options.run(async () => {
      if (!this.#whole && !this.#ended) this.#whole = await noteWhole(this.#options.db);
    });
  }

  async #advance(session: string): Promise<void> {
    const { db, link } = this.#options;
    const found = await db.read(["sessions", "outbox"], (tx) => this.outboxes.read(tx, session));
    if (found === undefined || this.#ended) return;
    const lane = this.#lane(session);
    const step = nextStep(lane, found);
    switch (step.do) {
      case "wait":
        this.#tellQuiet();
        break;
      case "pull":
        this.#pull(found.row);
        break;
      case "judge":
        await this.#judge(session, lane.refused);
        break;
      case "send":
        this.#lanes.set(session, laneSent(lane, step.frames));
        for (const frame of step.frames)
          if (link.send(frame) === "too-large") this.#options.unsendable(frame);
    }
  }

  #pull({ id: session, incarnation, head, stateCursor }: SessionRow): void {
    if (this.#pulls.size >= MAX_PULLS) return;
    const id = this.#options.around().newId();
    this.#pulls.set(id, { session, have: head });
    this.#set(session, { pulling: true, behind: false });
    this.#options.link.send({ type: "pull", id, session, incarnation, have: head, stateCursor });
  }

  async #judge(session: string, refused: ReadonlySet<string>): Promise<void> {
    const { db, around } = this.#options;
    await db.write(SESSION_TABLES, (tx) => judgeRefused(tx, session, refused, newOutcome(), around()));
    const losses = this.#lane(session).losses + 1;
    this.#set(session, { refused: new Set(), losses });
    const bounds = contendedDelay(losses);
    if (bounds.maxMs > 0) this.#rest(session, bounds);
    else this.wake(session);
  }

  #rest(session: string, bounds?: DelayRange): void {
    this.#set(session, { resting: true });
    this.#options.later(() => {
      this.#set(session, { resting: false });
      this.wake(session);
    }, bounds);
  }

  #lane(session: string): Lane {
    return this.#lanes.get(session) ?? EMPTY_LANE;
  }

  #set(session: string, change: Partial<Lane>): void {
    this.#lanes.set(session, { ...this.#lane(session), ...change });
  }
}
