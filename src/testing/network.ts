import type { Clock } from "../env/clock.ts";
import type { Socket, SocketEvents, Sockets } from "../env/socket.ts";
import { type Direction, TestConnection } from "./network-connection.ts";
import { type SeededRandom, seededRandom } from "./random.ts";

/** The relay's end of a connection: it gets the socket, and says what it does with what comes. */
export type Accept = (socket: Socket, url: string) => Pick<SocketEvents, "received" | "closed">;

/** A frame as {@link TestCable.watch} tells it: `up` to the relay, or `down` from it. */
export interface TestFrame {
  readonly direction: Direction;
  readonly data: string | Uint8Array;
}

/** What a {@link TestNetwork} is made with: whose time it keeps, and the relay's end. */
export interface TestNetworkOptions {
  readonly clock: Clock;
  readonly accept: Accept;
  readonly random?: SeededRandom | undefined;
}

/** What a {@link TestCable} is made with. {@link TestNetwork.cable} does it. */
export interface TestCableOptions extends TestNetworkOptions {
  readonly random: SeededRandom;
}

/** A network in one process: clients' cables on one side, a relay's `accept` on the other, and time from a clock. */
export class TestNetwork {
  readonly #options: TestNetworkOptions;
  readonly #cables: TestCable[] = [];
  /** Replaceable, as when a relay restarts. */
  accept: Accept;

  constructor(options: TestNetworkOptions) {
    this.#options = options;
    this.accept = options.accept;
  }

  /** A new client's way to the relay. */
  cable(): TestCable {
    const { clock, random = seededRandom(1) } = this.#options;
    const cable = new TestCable({
      clock,
      random: random.fork(`cable ${this.#cables.length}`),
      accept: (socket, url) => this.accept(socket, url),
    });
    this.#cables.push(cable);
    return cable;
  }

  /** Ends every connection, as when the relay's process dies. New ones can be made at once. */
  dropAll(): void {
    for (const cable of this.#cables) cable.drop();
  }
}

/**
 * What lies between one client and the relay. Frames of a connection stay in order and none is lost inside it, as
 * with TCP: what goes wrong goes wrong with the connection. Delays are taken anew for each frame.
 */
export class TestCable implements Sockets {
  readonly #options: TestCableOptions;
  readonly #connections = new Set<TestConnection>();
  readonly #watchers = new Set<(frame: TestFrame) => void>();
  #cut: "no" | "closed" | "silent" = "no";

  /** One way, in milliseconds, or its bounds. */
  delayMs: number | readonly [min: number, max: number] = 0;
  /** How likely it is that an op's frame reaches the relay twice. */
  duplicateOps = 0;
  /** Connections asked for so far. */
  connects = 0;
  /** The most connections that were opening or open, by the client's reckoning, at one time. */
  mostOpen = 0;

  constructor(options: TestCableOptions) {
    this.#options = options;
  }

  /** Connections that are opening or open, by the client's reckoning. */
  get open(): number {
    return [...this.#connections].filter((connection) => connection.heldByClient).length;
  }

  connect(url: string, events: SocketEvents): Socket {
    const { clock, accept } = this.#options;
    this.connects += 1;
    const connection = new TestConnection({
      clock,
      url,
      client: events,
      accept,
      delayMs: () => this.#drawDelayMs(),
      copies: (frame) => this.#passes(frame),
      gone: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    this.mostOpen = Math.max(this.mostOpen, this.open);
    if (this.#cut === "closed") connection.refuse();
    else if (this.#cut === "silent") connection.swallow();
    return connection.socket;
  }

  /**
   * No way through until `heal`. Connections end on both sides and new ones fail; `silently`, nobody is told:
   * everything sent vanishes, and connections of that time stay dead after `heal` too.
   */
  cut(options: { readonly silently?: boolean } = {}): void {
    this.#cut = options.silently === true ? "silent" : "closed";
    if (options.silently === true) this.swallow();
    else this.drop();
  }

  heal(): void {
    this.#cut = "no";
  }

  /** Ends the present connections; what was under way is lost. Both sides are told. */
  drop(): void {
    for (const connection of [...this.#connections]) connection.drop();
  }

  /** Leaves the present connections half open: both sides believe in them, nothing arrives any more. */
  swallow(): void {
    for (const connection of this.#connections) connection.swallow();
  }

  /** Tells of each frame as it is sent. */
  watch(listener: (frame: TestFrame) => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #passes(frame: TestFrame): 1 | 2 {
    for (const watcher of this.#watchers) watcher(frame);
    if (frame.direction !== "up" || this.duplicateOps === 0 || typeof frame.data !== "string") return 1;
    return /"opId":/.test(frame.data) && this.#options.random.chance(this.duplicateOps) ? 2 : 1;
  }

  #drawDelayMs(): number {
    if (typeof this.delayMs === "number") return this.delayMs;
    const [min, max] = this.delayMs;
    return min + this.#options.random.below(max - min + 1);
  }
}
