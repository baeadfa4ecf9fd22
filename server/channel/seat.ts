import type { Clock } from "../../src/env/clock.ts";
import type { Reporter } from "../../src/env/reporter.ts";
import type { FaultCode, LimitNamed } from "../../src/wire/fault.ts";
import type { Absent, Answer, StateLoaded } from "../storage/contract.ts";
import type { StateBound } from "./update-check.ts";

/** One participant of a channel: a channel number of a connection, or a stock client's socket. */
export interface Seat {
  /** The incarnation it came for; null takes the present one. */
  readonly incarnation: string | null;
  opened(): void;
  /** One y-websocket message. */
  send(message: Uint8Array): void;
  /** It is out, for this reason. Nothing follows. */
  ended(reason: Ending): void;
}

export interface Ending {
  readonly code: FaultCode;
  readonly message: string;
  readonly limit?: LimitNamed | undefined;
}

/** What a channel needs of the relay. */
export interface ChannelHost {
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly maxStateBytes: number;
  readonly maxQueuedBytes: number;
  readonly maxPresenceBytes: number;
  readonly stateCheckMs: number;
  readonly bound: StateBound;
  load(): Promise<StateLoaded | Absent>;
  /** Stores an update; `stored` runs once, before anyone else is told of the change. */
  store(life: { incarnation: string; update: Uint8Array }, stored: (answer: Answer) => void): void;
  /** Tells other relay processes. */
  passPresence(incarnation: string, update: Uint8Array): void;
  /** Nobody is left and nothing is unsaved. */
  emptied(): void;
}
