import type { IncomingMessage } from "node:http";
import type { Clock } from "../src/env/clock.ts";
import type { Reporter } from "../src/env/reporter.ts";
import type { Socket } from "../src/env/socket.ts";
import type { Identity } from "./authenticator.ts";
import type { Channels } from "./channel/channels.ts";
import type { Digest } from "./digest.ts";
import type { RelayLimits } from "./limits.ts";
import type { FaultTold } from "./relay-frames.ts";
import type { Answer, OpWrite, RelayStorage } from "./storage/contract.ts";
import type { Streams } from "./streams/streams.ts";
import type { Turns } from "./turns.ts";

/** One connection as the relay uses it. */
export interface Connection extends Socket {
  /** It has shown whom it speaks for, and may send more than a hello. */
  admitted?(): void;
  /** Reading can be held up where the transport can do so. */
  pause?(): void;
  resume?(): void;
}

/** What is known of a connection when it is made. */
export interface ConnectionInfo {
  /** Path and query, as `/` or `/y/session?actorId=a`; a whole URL will do. */
  readonly url: string;
  /** The page's origin; absent when it is no browser. */
  readonly origin?: string | undefined;
  /** A token that came with the connection itself: stock clients have no other way. */
  readonly token?: string | undefined;
  readonly request?: IncomingMessage | undefined;
}

/** What a connection calls: what comes in, and its end. */
export interface Receiver {
  received(data: string | Uint8Array): void;
  /** More came than may: the transport let go of it. */
  tooLarge(): void;
  closed(): void;
}

/** A connection that has been let in. */
export interface Participant {
  /** A change of one of its actor's sessions, as the frame that tells it. */
  changed(push: string): void;
  /** The relay is going down. */
  dismiss(fault: FaultTold): void;
}

/** What the relay's core does for its connections. */
export interface RelayServices {
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly digest: Digest;
  readonly limits: RelayLimits;
  readonly storage: RelayStorage;
  readonly storeId: string;
  readonly channels: Channels;
  readonly streams: Streams;
  readonly turns: Turns<Participant>;
  /** @throws whatever refuses: see `faultOfRefusal` */
  identify(
    claimed: { token?: string | undefined; actorId: string | undefined },
    info: ConnectionInfo,
  ): Promise<Identity>;
  /** Counts it among its actor's; a fault when there are too many. */
  enter(actor: string, participant: Participant): FaultTold | undefined;
  leave(actor: string, participant: Participant): void;
  /** Applies an op; `answered` runs before others are told of it. */
  submit(write: OpWrite, from: Participant, answered: (answer: Answer) => void): void;
}
