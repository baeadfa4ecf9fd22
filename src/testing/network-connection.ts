import type { Clock } from "../env/clock.ts";
import type { Socket, SocketEvents } from "../env/socket.ts";

/** Up: to the relay. Down: to the client. */
export type Direction = "up" | "down";

export interface TestConnectionOptions {
  readonly clock: Clock;
  readonly url: string;
  readonly client: SocketEvents;
  readonly accept: (socket: Socket, url: string) => Pick<SocketEvents, "received" | "closed">;
  readonly delayMs: () => number;
  /** How often the frame arrives. */
  readonly copies: (frame: { direction: Direction; data: string | Uint8Array }) => number;
  /** Neither side holds it any more. */
  readonly gone: () => void;
}

/** How long an end that closes waits for the other to answer before it counts the connection as lost. */
const CLOSE_PATIENCE_MS = 30_000;

/** One end: what it does with what comes, and whether it still believes in the connection. */
interface End {
  state: "opening" | "open" | "closing" | "closed";
  events: Pick<SocketEvents, "received" | "closed"> | undefined;
  /** On the way to this end, in order. What has `come` still waits for what is before it: nothing overtakes. */
  readonly underWay: { readonly arrive: () => void; come: boolean }[];
  bufferedBytes: number;
}

/** One connection of a {@link TestCable}. */
export class TestConnection {
  readonly #options: TestConnectionOptions;
  readonly #client: End;
  readonly #relay: End = { state: "opening", events: undefined, underWay: [], bufferedBytes: 0 };
  #passing = true;
  readonly socket: Socket;

  constructor(options: TestConnectionOptions) {
    this.#options = options;
    this.#client = { state: "opening", events: options.client, underWay: [], bufferedBytes: 0 };
    this.socket = this.#socketOf(this.#client, this.#relay, "up");
    this.#travel(this.#relay, () => this.#arrive());
  }

  get heldByClient(): boolean {
    return this.#client.state === "opening" || this.#client.state === "open";
  }

  /** It cannot be made. */
  refuse(): void {
    this.#relay.state = "closed";
    this.#passing = false;
    this.#options.clock.after(this.#options.delayMs(), () => this.#end(this.#client, 1006, ""));
  }

  swallow(): void {
    this.#passing = false;
  }

  drop(): void {
    this.#passing = false;
    this.#options.clock.after(0, () => this.#end(this.#client, 1006, ""));
    this.#options.clock.after(0, () => this.#end(this.#relay, 1006, ""));
  }

  #arrive(): void {
    const relay = this.#relay;
    if (relay.state !== "opening" || this.#client.state !== "opening") return;
    relay.state = "open";
    this.#travel(this.#client, () => {
      if (this.#client.state !== "opening") return;
      this.#client.state = "open";
      this.#options.client.opened();
    });
    relay.events = this.#options.accept(this.#socketOf(relay, this.#client, "down"), this.#options.url);
  }

  #socketOf(own: End, other: End, direction: Direction): Socket {
    return {
      send: (data) => {
        if (own.state !== "open") return;
        // The sender may use its bytes again.
        const frame = typeof data === "string" ? data : data.slice();
        const copies = this.#options.copies({ direction, data: frame });
        own.bufferedBytes += frame.length;
        this.#travel(other, () => {
          own.bufferedBytes -= frame.length;
          for (let copy = 0; copy < copies && other.state === "open"; copy++) other.events?.received(frame);
        });
      },
      close: (code = 1005, reason = "") => {
        if (own.state === "closing" || own.state === "closed") return;
        const opening = own.state === "opening";
        own.state = "closing";
        const patience = this.#options.clock.after(opening ? 0 : CLOSE_PATIENCE_MS, () => {
          this.#end(own, 1006, "");
        });
        this.#travel(other, () => {
          this.#end(other, opening ? 1006 : code, reason);
          this.#travel(own, () => {
            patience();
            this.#end(own, code, reason);
          });
        });
      },
      get bufferedBytes() {
        return own.bufferedBytes;
      },
    };
  }

  /** Runs `arrive` at the other side after a delay, behind all that is already on its way there. */
  #travel(to: End, arrive: () => void): void {
    if (!this.#passing) return;
    const item = { arrive, come: false };
    to.underWay.push(item);
    this.#options.clock.after(this.#options.delayMs(), () => {
      item.come = true;
      while (this.#passing && to.underWay[0]?.come === true) to.underWay.shift()?.arrive();
    });
  }

  #end(end: End, code: number, reason: string): void {
    if (end.state === "closed") return;
    end.state = "closed";
    end.bufferedBytes = 0;
    if (this.#client.state === "closed" && this.#relay.state === "closed") this.#options.gone();
    end.events?.closed(code, reason);
  }
}
