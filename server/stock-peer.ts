import { isValidId } from "../src/model/ids.ts";
import { CHANNEL_MESSAGE } from "../src/wire/channel.ts";
import { FAULTS } from "../src/wire/fault.ts";
import { PROTOCOL_VERSION } from "../src/wire/hello.ts";
import type { Seat } from "./channel/seat.ts";
import type { StateChannel } from "./channel/state-channel.ts";
import { type Greeting, greet } from "./greeting.ts";
import { limitTold, maxBinaryFrameBytes } from "./limits.ts";
import type { FaultTold } from "./relay-frames.ts";
import type { Connection, ConnectionInfo, Participant, Receiver, RelayServices } from "./relay-services.ts";
import { atTime } from "./timing.ts";

/** What a stock client's address says. */
export interface StockAddress {
  readonly session: string;
  readonly actorId: string | undefined;
  readonly token: string | undefined;
}

type Phase =
  | { readonly at: "checking"; readonly cancelTimeout: () => void }
  | {
      readonly at: "open";
      readonly actor: string;
      readonly channel: StateChannel;
      readonly seat: Seat;
      readonly cancelExpiry: () => void;
    }
  | { readonly at: "over" };

/** A y-websocket client that knows nothing of us, on the state of one session (rule P54). */
export class StockPeer implements Receiver, Participant {
  readonly #services: RelayServices;
  readonly #connection: Connection;
  #phase: Phase;
  /** What it sends before it is let in; it does not wait for a welcome. */
  #early: Uint8Array[] = [];
  #earlyBytes = 0;

  constructor(
    services: RelayServices,
    connection: Connection,
    from: { readonly info: ConnectionInfo; readonly address: StockAddress },
  ) {
    this.#services = services;
    this.#connection = connection;
    const { clock, limits } = services;
    const cancelTimeout = clock.after(limits.authTimeoutMs, () =>
      this.dismiss({ code: "try-again", message: "The token could not be checked in time" }),
    );
    this.#phase = { at: "checking", cancelTimeout };
    const { session, actorId, token } = from.address;
    const hello = { protocol: PROTOCOL_VERSION, actorId, token };
    void greet(hello, services, from.info).then((greeting) => this.#greeted(greeting, session));
  }

  received(data: string | Uint8Array): void {
    const phase = this.#phase;
    const { maxHelloBytes } = this.#services.limits;
    if (phase.at === "over") return;
    if (typeof data === "string") {
      this.dismiss({ code: "malformed", message: "Only binary messages here" });
    } else if (data.byteLength > maxBinaryFrameBytes(this.#services.limits)) {
      this.tooLarge();
    } else if (phase.at === "open") phase.channel.received(phase.seat, data);
    else {
      this.#earlyBytes += data.byteLength;
      if (this.#earlyBytes <= maxHelloBytes) this.#early.push(data.slice());
      else this.dismiss({ code: "try-again", message: "Too much before the token was checked" });
    }
  }

  tooLarge(): void {
    const { maxStateBytes } = this.#services.limits;
    this.dismiss({ code: "too-large", ...limitTold("maxStateBytes", maxStateBytes) });
  }

  closed(): void {
    this.#leave();
  }

  changed(): void {
    // The channel tells it of state; it knows of nothing else.
  }

  dismiss({ code, message }: FaultTold): void {
    if (this.#phase.at === "over") return;
    this.#services.reporter.report("info", "connection-refused", { code });
    this.#leave();
    this.#connection.close(FAULTS[code].close ?? 1008, message.slice(0, 100));
  }

  #leave(): void {
    const phase = this.#phase;
    this.#phase = { at: "over" };
    this.#early = [];
    if (phase.at === "checking") phase.cancelTimeout();
    if (phase.at !== "open") return;
    phase.cancelExpiry();
    phase.channel.leave(phase.seat);
    this.#services.leave(phase.actor, this);
  }

  #greeted(greeting: Greeting, session: string): void {
    const phase = this.#phase;
    if (phase.at !== "checking") return;
    const { channels, clock, enter } = this.#services;
    const fault = greeting.welcome ? enter(greeting.identity.actorId, this) : greeting.fault;
    if (!greeting.welcome || fault !== undefined) {
      if (fault !== undefined) this.dismiss(fault);
      return;
    }
    phase.cancelTimeout();
    this.#connection.admitted?.();
    const { actorId: actor, expiresAt } = greeting.identity;
    const channel = channels.at({ actor, session });
    const seat: Seat = {
      incarnation: null,
      opened: () => {},
      send: (message) => {
        // Ours alone; y-websocket complains aloud of each message it does not know.
        if (message[0] !== CHANNEL_MESSAGE.durable) this.#send(message);
      },
      ended: (reason) => this.dismiss(reason),
    };
    const expire = (): void => this.dismiss({ code: "unauthenticated", message: "The token has expired" });
    const cancelExpiry = expiresAt === undefined ? () => {} : atTime(clock, expiresAt.getTime(), expire);
    this.#phase = { at: "open", actor, channel, seat, cancelExpiry };
    channel.join(seat);
    for (const message of this.#early) channel.received(seat, message);
    this.#early = [];
  }

  #send(message: Uint8Array): void {
    if (this.#phase.at === "over") return;
    if (this.#connection.bufferedBytes > this.#services.limits.maxBufferedBytes) {
      this.dismiss({ code: "try-again", message: "More waited to be read than is kept" });
    } else this.#connection.send(message);
  }
}

const BASE = "ws://relay";

/** The address of a stock client: `/y/<session>`. Undefined for any other; "bad" where the session can be none, or the address. */
export function stockAddress(
  url: string,
  options: { tokenInUrl: boolean },
): StockAddress | "bad" | undefined {
  // Anybody may ask for anything: `//` is no address, and must not end the process.
  if (!URL.canParse(url, BASE)) return "bad";
  const { pathname, searchParams } = new URL(url, BASE);
  const room = /^\/y\/(.*)$/.exec(pathname)?.[1];
  if (room === undefined) return undefined;
  const session = decoded(room);
  if (!isValidId(session)) return "bad";
  return {
    session,
    actorId: searchParams.get("actorId") ?? undefined,
    token: options.tokenInUrl ? (searchParams.get("token") ?? undefined) : undefined,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // A percent sign that encodes nothing: no session's address.
  }
}
