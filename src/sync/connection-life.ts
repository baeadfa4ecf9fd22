import type { Welcome } from "../wire/hello.ts";
import { exactly } from "./backoff.ts";
import { type ConnectionFacts, type ConnectionStep, type OnlinePhase, wait } from "./connection-state.ts";

/** Without a frame for so long a ping is sent; without an answer for so long the connection is dead. */
export const QUIET_MS = 25_000;
export const PONG_LIMIT_MS = 10_000;
/** A timer later than this was held back: by a page that slept, or by a browser that throttles what is not seen. */
const LATE_MS = 2_000;
/** A token that ends is replaced so long before, or at half its time when that is shorter. */
const REFRESH_LEAD_MS = 60_000;

export type Online = ConnectionFacts & OnlinePhase;

/** What the timer of a connection that stands asks for; undefined when the connection is dead. */
export function lifeDue(state: Online, nowMs: number): ConnectionStep | undefined {
  if (state.pings > 0) {
    // A timer that comes late speaks of a page that slept: the answer may lie unread. One more chance.
    const slept = nowMs - state.pingedMs > PONG_LIMIT_MS + LATE_MS;
    return state.pings === 1 && slept ? ping(state, nowMs) : undefined;
  }
  const refresh = state.refreshMs !== undefined && state.refreshMs <= nowMs && state.ask === undefined;
  const asked = state.serial + 1;
  const next: Online = refresh ? { ...state, serial: asked, refreshMs: undefined, ask: asked } : state;
  const quietMs = nowMs - state.heardMs;
  // Below zero the clock was set back, and nothing is known: better one ping too many.
  const then = quietMs < 0 || quietMs >= QUIET_MS ? ping(next, nowMs) : listen(next, nowMs);
  return refresh ? { state: then.state, effects: [{ do: "ask-token", ask: asked }, ...then.effects] } : then;
}

/** Asks for a sign of life, unless an answer is due already. */
export function probe(state: Online, nowMs: number): ConnectionStep {
  return state.pings > 0 ? { state, effects: [] } : ping(state, nowMs);
}

/** Waits until the connection has been quiet for too long, or its token wants to be replaced. */
export function listen(state: Online, nowMs: number): ConnectionStep {
  const quietMs = Math.max(0, QUIET_MS - (nowMs - state.heardMs));
  const open = state.refreshMs === undefined || state.ask !== undefined;
  const refreshMs = open ? quietMs : Math.max(0, state.refreshMs - nowMs);
  const { serial, effect } = wait(state.serial, exactly(Math.min(quietMs, refreshMs, QUIET_MS)));
  return { state: { ...state, serial, timer: serial }, effects: [effect] };
}

/** Only for clocks that roughly agree; otherwise the token is replaced when the relay refuses it. */
export function refreshTime(welcome: Welcome, nowMs: number): number | undefined {
  if (welcome.expiresAt === undefined) return undefined;
  const leftMs = Date.parse(welcome.expiresAt) - nowMs;
  return leftMs > 0 ? nowMs + Math.max(leftMs - REFRESH_LEAD_MS, leftMs / 2) : undefined;
}

function ping(state: Online, nowMs: number): ConnectionStep {
  const { serial, effect } = wait(state.serial, exactly(PONG_LIMIT_MS));
  return {
    state: { ...state, serial, timer: serial, pings: state.pings + 1, pingedMs: nowMs },
    effects: [{ do: "ping", socket: state.socket }, effect],
  };
}
