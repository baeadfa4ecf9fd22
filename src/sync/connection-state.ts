import type { PageSignal } from "../env/page.ts";
import type { FaultCode, LimitNamed } from "../wire/fault.ts";
import type { Welcome } from "../wire/hello.ts";
import type { DelayRange } from "./backoff.ts";

/** Why there is no connection, or why the last one ended. */
export type ConnectionTrouble =
  | {
      readonly kind: "fault";
      readonly code: FaultCode;
      readonly message: string;
      readonly limit?: LimitNamed | undefined;
    }
  | { readonly kind: "lost"; readonly closeCode: number }
  | { readonly kind: "silent"; readonly during: "connecting" | "greeting" | "online" }
  | { readonly kind: "unreadable"; readonly cause: unknown }
  | { readonly kind: "no-token"; readonly cause: unknown };

/** Where the one connection of a client stands. Numbers tell what is present from what is late. */
export type ConnectionState = ConnectionFacts &
  (
    | { readonly phase: "idle" | "refused" | "closed" }
    /** Until the next attempt. */
    | { readonly phase: "waiting"; readonly timer: number }
    /** The token source was asked; there is no socket. */
    | { readonly phase: "asking"; readonly ask: number; readonly timer: number }
    /** There is no good token. Until the source is asked again. */
    | { readonly phase: "needs-auth"; readonly why: "refused" | "source-failed"; readonly timer: number }
    | { readonly phase: "connecting" | "greeting"; readonly socket: number; readonly timer: number }
    | OnlinePhase
  );

export interface OnlinePhase {
  readonly phase: "online";
  readonly socket: number;
  readonly timer: number;
  readonly sinceMs: number;
  /** When the last frame came. */
  readonly heardMs: number;
  /** Pings sent since then. */
  readonly pings: number;
  /** When the last ping was sent, and how many bytes had not left by then. */
  readonly pingedMs: number;
  readonly pingedBytes: number;
  /** When to ask for the token that follows this one; by this device's clock. */
  readonly refreshMs: number | undefined;
  /** The question for it that is open. */
  readonly ask: number | undefined;
}

/** What stays true across phases. */
export interface ConnectionFacts {
  readonly actorId: string;
  /** The last number given to a socket, a question or a timer. */
  readonly serial: number;
  /** Attempts that failed since the last stable connection. */
  readonly failures: number;
  /** Tokens refused since the last stable connection. */
  readonly refusals: number;
  /**
   * How many pings in a row may go without an answer. On a slow line nothing shows of a long frame before its end, so
   * each connection that died of silence makes the next one wait longer.
   */
  readonly patience: number;
  /** What the token source said last has not been refused. */
  readonly tokenKnown: boolean;
  readonly trouble: ConnectionTrouble | undefined;
}

export type ConnectionEvent =
  | { readonly type: "start" | "reconnect" | "close" }
  | { readonly type: "page"; readonly signal: "online" | "offline" | "visible" }
  | { readonly type: "token"; readonly ask: number }
  | { readonly type: "token-failed"; readonly ask: number; readonly cause: unknown }
  | { readonly type: "opened" | "heard"; readonly socket: number }
  | { readonly type: "welcome"; readonly socket: number; readonly welcome: Welcome }
  | {
      readonly type: "fault";
      readonly socket: number;
      readonly code: FaultCode;
      readonly message: string;
      readonly limit?: LimitNamed | undefined;
    }
  | { readonly type: "unreadable"; readonly socket: number; readonly cause: unknown }
  | { readonly type: "closed"; readonly socket: number; readonly code: number; readonly reason: string }
  /** With how many bytes handed to the socket have not left. */
  | { readonly type: "timer"; readonly timer: number; readonly bufferedBytes: number };

export type ConnectionEffect =
  | { readonly do: "ask-token"; readonly ask: number }
  | { readonly do: "connect"; readonly socket: number }
  | { readonly do: "say-hello" | "reauthenticate" | "ping"; readonly socket: number }
  | { readonly do: "end-socket"; readonly socket: number; readonly code: number }
  /** Instead of any wait before it. */
  | { readonly do: "wait"; readonly timer: number; readonly range: DelayRange }
  | { readonly do: "stop-waiting" }
  | { readonly do: "tell-online"; readonly welcome: Welcome }
  | { readonly do: "tell-offline" };

export interface ConnectionStep {
  readonly state: ConnectionState;
  readonly effects: readonly ConnectionEffect[];
}

/** What an application is told. */
export type LinkStatus = "offline" | "connecting" | "online" | "needs-auth" | "refused" | "closed";

export function linkStatus(state: ConnectionState, pageOnline: boolean): LinkStatus {
  switch (state.phase) {
    case "idle":
    case "waiting":
      return "offline";
    case "asking":
      return state.refusals > 0 ? "needs-auth" : "connecting";
    case "needs-auth":
      // A source that fails while there is no network says nothing about the token.
      return state.why === "refused" || pageOnline ? "needs-auth" : "offline";
    case "connecting":
    case "greeting":
      // The first fresh token may well be good. After that it is the token that is missing, not the network.
      return state.refusals > 1 ? "needs-auth" : "connecting";
    case "online":
    case "refused":
    case "closed":
      return state.phase;
  }
}

export function initialConnection(actorId: string): ConnectionState {
  return {
    phase: "idle",
    actorId,
    serial: 0,
    failures: 0,
    refusals: 0,
    patience: 1,
    tokenKnown: false,
    trouble: undefined,
  };
}

/** What a page's signal means to the connection, where it means something. */
export function signalOf(signal: PageSignal): "online" | "offline" | "visible" | undefined {
  switch (signal) {
    case "online":
    case "offline":
    case "visible":
      return signal;
    case "resume":
    case "pageshow":
      return "visible";
    case "hidden":
    case "freeze":
    case "pagehide":
      return undefined;
  }
}

/** The socket that counts, if there is one. */
export function socketOf(state: ConnectionState): number | undefined {
  return "socket" in state ? state.socket : undefined;
}

/** The effect of waiting, and the serial number after it, which is the timer's. */
export function wait(serial: number, range: DelayRange): { serial: number; effect: ConnectionEffect } {
  return { serial: serial + 1, effect: { do: "wait", timer: serial + 1, range } };
}
