import type { Clock } from "../src/env/clock.ts";
import type { Random } from "../src/env/random.ts";
import type { Reporter } from "../src/env/reporter.ts";
import { isValidId, newId } from "../src/model/ids.ts";
import { FAULTS } from "../src/wire/fault.ts";
import { AuthError, type Authenticator, type Identity } from "./authenticator.ts";
import type { Bus, BusMember, BusMessage, Change } from "./bus/contract.ts";
import { changeOf } from "./change.ts";
import { Channels } from "./channel/channels.ts";
import { mayFitCompacted } from "./channel/compaction.ts";
import { type Digest, portableDigest } from "./digest.ts";
import { limitTold, pageBounds, type RelayLimits } from "./limits.ts";
import { originAllowed } from "./origins.ts";
import { Peer } from "./peer.ts";
import { type FaultTold, faultText, pushText } from "./relay-frames.ts";
import type { Connection, ConnectionInfo, Participant, Receiver, RelayServices } from "./relay-services.ts";
import { StockPeer, stockAddress } from "./stock-peer.ts";
import type { Answer, RelayStorage, Write } from "./storage/contract.ts";
import { Streams } from "./streams/streams.ts";
import { type TimeBox, unbounded } from "./time-box.ts";
import { Turns } from "./turns.ts";

/** What a relay takes from the outside world. */
export interface RelayEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly reporter: Reporter;
  /** The portable one, when absent. */
  readonly digest?: Digest | undefined;
  /** Bounds what one state update may cost; without it nothing does. */
  readonly timeBox?: TimeBox | undefined;
}

export interface RelayCoreOptions {
  readonly environment: RelayEnvironment;
  readonly storage: RelayStorage;
  readonly bus: Bus;
  readonly limits: RelayLimits;
  /** What acknowledgements survive, where the storage leaves the choice; `power` by default. */
  readonly durability?: "power" | "process" | undefined;
  /** Without one, every connection is believed to be the actor it says. */
  readonly authenticate?: Authenticator | undefined;
  /** Pages that may connect; see {@link originAllowed}. */
  readonly origins?: readonly string[] | undefined;
  /** Whether stock clients may show their token as the parameter `token` of the URL. */
  readonly tokenInUrl?: boolean | undefined;
}

/** How long a relay that goes down waits for what it has not stored yet. */
const DRAIN_MS = 5_000;

/**
 * A relay without sockets: whoever has connections hands them to `accept`. It checks counts, stores, orders and fans
 * out; it never looks into messages or state. Everything outside comes in through its options.
 */
export class RelayCore {
  readonly #options: RelayCoreOptions;
  readonly #rooms = new Map<string, Set<Participant>>();
  readonly #participants = new Set<Participant>();
  readonly #services: RelayServices;
  readonly #bus: BusMember;
  #underWay = 0;
  #idle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: RelayCoreOptions, opened: { storeId: string; bus: BusMember }) {
    const { environment, storage, limits } = options;
    const { clock, reporter, digest = portableDigest, timeBox = unbounded } = environment;
    this.#options = options;
    this.#bus = opened.bus;
    const publish = (message: BusMessage): void => this.#bus.publish(message);
    const channels = new Channels({
      clock,
      reporter,
      timeBox,
      storage,
      limits,
      submit: (write, answered) => this.#submit(write, undefined, answered),
      publish,
    });
    this.#services = {
      clock,
      reporter,
      digest,
      limits,
      storage,
      storeId: opened.storeId,
      channels,
      streams: new Streams({ clock, limits, storage, publish }),
      turns: new Turns(clock, limits.turnMs),
      identify: (claimed, info) => this.#identify(claimed, info),
      enter: (actor, participant) => this.#enter(actor, participant),
      leave: (actor, participant) => this.#leave(actor, participant),
      submit: (write, from, answered) => this.#submit(write, from, answered),
    };
  }

  /** Opens the storage and joins the bus. @throws StorageError */
  static async open(options: RelayCoreOptions): Promise<RelayCore> {
    const { environment, storage, limits } = options;
    const { clock, random, reporter } = environment;
    const { maxMessages: maxTailMessages, maxBytes: maxTailBytes } = pageBounds(limits);
    const { maxMetadataBytes, maxStateBytes, maxSessionsPerActor } = limits;
    const { storeId } = await storage.open({
      now: () => clock.now(),
      newId: () => newId({ nowMs: clock.now(), bytes: (n) => random.bytes(n) }),
      limits: { maxMetadataBytes, maxStateBytes, maxSessionsPerActor, maxTailMessages, maxTailBytes },
      reporter,
      durability: options.durability ?? "power",
    });
    const hear: { message: (message: BusMessage) => void } = { message: () => {} };
    const bus = await options.bus.join((message) => hear.message(message));
    const core = new RelayCore(options, { storeId, bus });
    hear.message = (message) => core.#heard(message);
    return core;
  }

  get storeId(): string {
    return this.#services.storeId;
  }

  /** Connections let in, and channels open: for the operator. */
  get size(): { readonly connections: number; readonly channels: number } {
    const connections = [...this.#rooms.values()].reduce((sum, room) => sum + room.size, 0);
    return { connections, channels: this.#services.channels.size };
  }

  /** Takes a connection that was just made. What it says and its end go to what this answers. */
  accept(connection: Connection, info: ConnectionInfo): Receiver {
    const address = stockAddress(info.url, { tokenInUrl: this.#options.tokenInUrl ?? false });
    const fault = this.#faultOf(info, address);
    if (fault !== undefined) {
      this.#services.reporter.report("info", "connection-refused", { code: fault.code });
      if (address === undefined) connection.send(faultText(fault));
      connection.close(FAULTS[fault.code].close ?? undefined, fault.code);
      return TURNED_AWAY;
    }
    const participant =
      address === undefined || address === "bad"
        ? new Peer(this.#services, connection, info)
        : new StockPeer(this.#services, connection, {
            info,
            address: { ...address, token: info.token ?? address.token },
          });
    this.#participants.add(participant);
    return {
      // What comes while the relay goes down is not begun: its sender is told to come again.
      received: (data) => {
        if (this.#closing === undefined) participant.received(data);
      },
      tooLarge: () => participant.tooLarge(),
      closed: () => {
        this.#participants.delete(participant);
        participant.closed();
      },
    };
  }

  /** Why a connection is turned away before it has said anything. */
  #faultOf({ origin }: ConnectionInfo, address: ReturnType<typeof stockAddress>): FaultTold | undefined {
    const { origins, authenticate } = this.#options;
    if (this.#closing !== undefined) return GOING_DOWN;
    if (!originAllowed(origin, { origins, authenticated: authenticate !== undefined })) {
      return { code: "forbidden", message: "This origin may not connect here" };
    }
    return address === "bad" ? { code: "unknown-session", message: "There is no such session" } : undefined;
  }

  /** Answers what is under way, tells everyone to come again, and closes the storage. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { storage, environment } = this.#options;
    const { unsaved } = await this.#services.channels.flush(DRAIN_MS);
    if (unsaved > 0) environment.reporter.report("error", "state-left-unsaved", { channels: unsaved });
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    for (const participant of [...this.#participants]) participant.dismiss(GOING_DOWN);
    const { channels, turns, streams } = this.#services;
    for (const part of [channels, turns, streams]) part.close();
    await this.#bus.leave();
    await storage.close();
  }

  async #identify(
    claimed: { token?: string | undefined; actorId: string | undefined },
    info: ConnectionInfo,
  ): Promise<Identity> {
    const { authenticate } = this.#options;
    const { token, actorId } = claimed;
    if (authenticate === undefined) {
      if (!isValidId(actorId)) throw new AuthError("missing", "An actorId is needed");
      return { actorId };
    }
    const identity = await authenticate(token, info.request);
    if (!isValidId(identity.actorId)) throw new AuthError("invalid", "The token names no actor");
    const ended = identity.expiresAt && !(identity.expiresAt.getTime() > this.#services.clock.now());
    if (ended) throw new AuthError("expired");
    if (actorId !== undefined && actorId !== identity.actorId) {
      throw new AuthError("forbidden", "The token speaks for another actor");
    }
    return identity;
  }

  #enter(actor: string, participant: Participant): FaultTold | undefined {
    const room = this.#rooms.get(actor) ?? new Set();
    const { maxSocketsPerActor: max } = this.#services.limits;
    if (room.size >= max) return { code: "limit-reached", ...limitTold("maxSocketsPerActor", max) };
    if (room.size === 0) {
      this.#rooms.set(actor, room);
      this.#bus.watch(actor);
    }
    room.add(participant);
    return undefined;
  }

  #leave(actor: string, participant: Participant): void {
    this.#services.turns.left(participant);
    const room = this.#rooms.get(actor);
    if (room?.delete(participant) !== true || room.size > 0) return;
    this.#rooms.delete(actor);
    this.#bus.unwatch(actor);
  }

  #submit(write: Write, from: Participant | undefined, answered: (answer: Answer) => void): void {
    this.#underWay += 1;
    this.#apply(write, (answer) => {
      if (!mayFitCompacted(answer)) {
        this.#answer(write, answer, { from, answered });
        return;
      }
      // Perhaps what was set and deleted again takes the room: it is merged away, and the write tried once more.
      void this.#services.channels.compact(write).then(() => {
        this.#apply(write, (second) => this.#answer(write, second, { from, answered }));
      });
    });
  }

  #apply(write: Write, answered: (answer: Answer) => void): void {
    this.#options.storage.apply(write).then(answered, (error: unknown) => {
      this.#services.reporter.report("error", "write-failed", { kind: write.kind, error: String(error) });
      answered(NOT_STORED);
    });
  }

  /** In one turn, and in this order: channels, the op's own connection, the others (rules P42, P55). */
  #answer(
    write: Write,
    answer: Answer,
    to: { from: Participant | undefined; answered: (answer: Answer) => void },
  ): void {
    this.#underWay -= 1;
    const { channels, streams } = this.#services;
    const change = answer.ok ? changeOf(write, answer) : undefined;
    if (change !== undefined && write.kind !== "state") channels.changed(change);
    to.answered(answer);
    if (change !== undefined) {
      this.#push(change, to.from);
      streams.changed(change);
      this.#bus.publish(change);
    }
    if (answer.ok && answer.held !== undefined && change?.state !== undefined) {
      channels.considerCompaction(write, answer.held);
    }
    if (this.#underWay === 0) this.#idle?.();
  }

  #push(change: Change, except: Participant | undefined): void {
    let text: string | undefined;
    for (const participant of this.#rooms.get(change.actor) ?? []) {
      if (participant === except) continue;
      text ??= pushText(change, pageBounds(this.#services.limits).maxBytes);
      participant.changed(text);
    }
  }

  #heard(message: BusMessage): void {
    const { channels, streams } = this.#services;
    if (message.type === "presence") channels.heard(message);
    else if (message.type === "stream") streams.heard(message);
    else {
      channels.changed(message);
      this.#push(message, undefined);
      streams.changed(message);
    }
  }
}

const GOING_DOWN: FaultTold = { code: "try-again", message: "The relay is going down" };
const TURNED_AWAY: Receiver = { received: () => {}, tooLarge: () => {}, closed: () => {} };
const NOT_STORED: Answer = {
  ok: false,
  code: "try-again",
  message: "The relay's storage could not take this now",
};
