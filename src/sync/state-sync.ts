import type { LocalDatabase } from "../store/database.ts";
import { hasUnsentState, unsentSessions } from "../store/session-rows.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import { FAULTS, type FaultCode } from "../wire/fault.ts";
import type { LinkChannels } from "./link-channels.ts";
import type { Replicas } from "./replicas.ts";
import { StateChannel } from "./state-channel.ts";
import type { StateReplica } from "./state-replica.ts";

interface Joined {
  readonly incarnation: string;
  readonly channel: StateChannel;
  readonly replica: StateReplica;
}

export interface StateSyncOptions {
  readonly db: LocalDatabase<SyncRows>;
  readonly replicas: Replicas;
  readonly channels: LinkChannels;
  /** Whether the connection is there and its catalog read. */
  readonly isFresh: () => boolean;
  readonly synced: () => void;
  /** Does it after a while. */
  readonly later: (work: () => void) => void;
  readonly refused: (session: string, code: FaultCode) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Keeps a channel for each session that is open here or has state the relay lacks, while there is a connection. A
 * channel opens once the session exists at the relay and its outbox is empty, and is shared by all who use the session.
 */
export class StateSync {
  readonly #options: StateSyncOptions;
  readonly #joined = new Map<string, Joined>();
  /** The relay closed the channel of this life of the session for good on this connection. */
  readonly #refused = new Map<string, string>();
  readonly #tooLarge = new Set<string>();
  readonly #unsent = new Set<string>();
  readonly #ends: (() => void)[] = [];
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: StateSyncOptions) {
    this.#options = options;
    const { db, replicas } = options;
    this.#ends.push(
      replicas.watch(() => this.#look(replicas.sessions)),
      db.watch(({ tables, sessions }) => {
        if (!tables.has("state") && !tables.has("sessions")) return;
        // A state that was too large may have become smaller.
        if (tables.has("state")) for (const session of sessions) this.#forgive(session);
        this.#look([...sessions]);
      }),
    );
  }

  /** The connection's catalog has been read. */
  online(): void {
    this.#refused.clear();
    this.#run(async () => {
      for (const session of await this.#options.db.read(["state"], (tx) => unsentSessions(tx)))
        this.#unsent.add(session);
      this.#look([...this.#options.replicas.sessions, ...this.#unsent]);
    });
  }

  /** Whether this session's state comes by an open channel that has synced (rule P55). */
  covers(session: string): boolean {
    return this.#joined.get(session)?.channel.synced === true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends) end();
    await this.#work;
    for (const session of [...this.#joined.keys()]) await this.#leave(session);
  }

  #look(sessions: Iterable<string>): void {
    if (!this.#options.isFresh()) return;
    // Each by itself: what fails for one holds up none of the others.
    for (const session of new Set(sessions)) this.#run(() => this.#consider(session));
    this.#run(async () => {
      for (const session of this.#joined.keys()) if (!this.#isUsed(session)) await this.#consider(session);
    });
  }

  async #consider(session: string): Promise<void> {
    const { db } = this.#options;
    const { row, unsent } = await db.read(["sessions", "state"], async (tx) => ({
      row: await tx.get("sessions", [session]),
      unsent: await hasUnsentState(tx, session),
    }));
    if (unsent) this.#unsent.add(session);
    else this.#unsent.delete(session);
    const incarnation = row?.incarnation ?? undefined;
    const joined = this.#joined.get(session);
    if (
      joined !== undefined &&
      joined.incarnation === incarnation &&
      !joined.replica.isOver &&
      this.#isUsed(session)
    ) {
      if (joined.channel.phase === "closed" && this.#options.isFresh()) joined.channel.connect();
      return;
    }
    await this.#leave(session);
    const settled = incarnation !== undefined && row?.view.pending === 0;
    const welcome = settled && this.#refused.get(session) !== incarnation && this.#options.isFresh();
    if (welcome && this.#isUsed(session)) await this.#join(session, incarnation);
  }

  #isUsed(session: string): boolean {
    // A channel holds its replica open itself: it is used when somebody else does, or when there is something to send.
    return (
      this.#unsent.has(session) || this.#options.replicas.users(session) > (this.#joined.has(session) ? 1 : 0)
    );
  }

  async #join(session: string, incarnation: string): Promise<void> {
    const { replicas, channels, failed, synced } = this.#options;
    const replica = replicas.acquire(session);
    try {
      await replica.ready();
    } catch (error) {
      await replicas.release(replica);
      throw error;
    }
    const channel = new StateChannel({
      doc: replica.doc,
      awareness: replica.awareness,
      session,
      incarnation,
      channels,
      position: () => replica.position(),
      onDurable: (ticket) => void replica.durable(ticket).then(synced, failed),
      onClosed: (code) => this.#refusedBy(session, incarnation, code),
    });
    replica.setRemoteOrigin(channel.origin);
    this.#joined.set(session, { incarnation, channel, replica });
    channel.connect();
  }

  #forgive(session: string): void {
    if (this.#tooLarge.delete(session)) this.#refused.delete(session);
  }

  /** The relay closed the channel. What can be tried again is, after a while; a deleted session's end comes by the catalog. */
  #refusedBy(session: string, incarnation: string, code: FaultCode): void {
    const { refused, later } = this.#options;
    this.#refused.set(session, incarnation);
    if (code === "too-large") this.#tooLarge.add(session);
    this.#run(() => this.#leave(session));
    if (FAULTS[code].remedy === "retry") {
      later(() => {
        this.#refused.delete(session);
        this.#look([session]);
      });
    } else if (code !== "deleted" && code !== "unknown-session") refused(session, code);
  }

  async #leave(session: string): Promise<void> {
    const joined = this.#joined.get(session);
    if (joined === undefined) return;
    this.#joined.delete(session);
    joined.channel.destroy();
    joined.replica.setRemoteOrigin(undefined);
    await this.#options.replicas.release(joined.replica);
  }

  /** One after the other; what fails is begun again after a while. */
  #run(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#closed) return;
      try {
        await work();
      } catch (error) {
        this.#options.failed(error);
        this.#options.later(() => this.#run(work));
      }
    });
  }
}
