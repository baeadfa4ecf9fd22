import type { Welcome } from "../wire/hello.ts";
import { exactly } from "./backoff.ts";
import { type ConnectionFacts, type ConnectionStep, type OnlinePhase, wait } from "./connection-state.ts";

/** Without a frame for so long a ping is sent; without an answer for so long the connection is dead. */
export const QUIET_MS = 25_000;
export const PONG_LIMIT_MS = 10_000;
/** Pings that may go unanswered at the most: a whole state of 5 MiB comes through at 30 kB a second. */
const MOST_PATIENCE = 16;
/** A timer later than this was held back: by a page that slept, or by a browser that throttles what is not seen. */
const LATE_MS = 2_000;
/** A token that ends is replaced so long before, or at half its time when that is shorter. */
const REFRESH_LEAD_MS = 60_000;

export type Online = ConnectionFacts & OnlinePhase;

/** What the timer of a connection that stands asks for; undefined when the connection is dead. */
export function lifeDue(state: Online, nowMs: number, bufferedBytes: number): ConnectionStep | undefined {
  if (state.pings > 0) {
    // What leaves shows that the line lives, and that the ping may still wait behind it.
    if (bufferedBytes < state.pingedBytes) return ping({ ...state, pings: 0 }, nowMs, bufferedBytes);
    // A timer that comes late speaks of a page that slept: the answer may lie unread. One more chance.
    const slept = nowMs - state.pingedMs > PONG_LIMIT_MS + LATE_MS;
    const allowed = state.patience + (slept ? 1 : 0);
    return state.pings < allowed ? ping(state, nowMs, bufferedBytes) : undefined;
  }
  const refresh = state.refreshMs !== undefined && state.refreshMs <= nowMs && state.ask === undefined;
  const asked = state.serial + 1;
  const next: Online = refresh ? { ...state, serial: asked, refreshMs: undefined, ask: asked } : state;
  const quietMs = nowMs - state.heardMs;
  // Below zero the clock was set back, and nothing is known: better one ping too many.
  const then = quietMs < 0 || quietMs >= QUIET_MS ? ping(next, nowMs, bufferedBytes) : listen(next, nowMs);
  return refresh ? { state: then.state, effects: [{ do: "ask-token", ask: asked }, ...then.effects] } : then;
}

/** Asks for a sign of life, unless an answer is due already. */
export function probe(state: Online, nowMs: number): ConnectionStep {
  return state.pings > 0 ? { state, effects: [] } : ping(state, nowMs, 0);
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

/** A frame came. A ping answered at once shows that the line is not slow after all. */
export function heard(state: Online, nowMs: number): Online {
  const prompt = state.pings === 1 && nowMs - state.pingedMs < PONG_LIMIT_MS;
  const patience = prompt ? Math.max(1, state.patience - 1) : state.patience;
  return { ...state, heardMs: nowMs, pings: 0, patience };
}

/** After a connection that died of silence. */
export function morePatience(patience: number): number {
  return Math.min(MOST_PATIENCE, patience * 2);
}

function ping(state: Online, nowMs: number, bufferedBytes: number): ConnectionStep {
  const { serial, effect } = wait(state.serial, exactly(PONG_LIMIT_MS));
  return {
    state: {
      ...state,
      serial,
      timer: serial,
      pings: state.pings + 1,
      pingedMs: nowMs,
      pingedBytes: bufferedBytes,
    },
    effects: [{ do: "ping", socket: state.socket }, effect],
  };
}
