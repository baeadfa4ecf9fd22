import { FAULTS, type FaultCode, faultOfClose, type LimitNamed } from "../wire/fault.ts";
import { PROTOCOL_VERSION, type Welcome } from "../wire/hello.ts";
import { exactly, refusedDelay, retryDelay } from "./backoff.ts";
import { heard, lifeDue, listen, morePatience, type Online, probe, refreshTime } from "./connection-life.ts";
import {
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionFacts,
  type ConnectionState,
  type ConnectionStep,
  type ConnectionTrouble,
  socketOf,
  wait,
} from "./connection-state.ts";

/** How long the token source, the socket, and the relay's welcome may take. */
export const ASK_LIMIT_MS = 30_000;
export const CONNECT_LIMIT_MS = 15_000;
export const GREETING_LIMIT_MS = 15_000;
/** A connection that stood so long was a good one: the next failure counts as the first. */
export const STABLE_MS = 10_000;
/** Close codes a client sends: done, and "your frames cannot be read". */
const CLOSE_DONE = 1000;
const CLOSE_UNREADABLE = FAULTS.malformed.close;

/** The one decider of the link: rules P3 to P9 and P12. Events of sockets, questions and timers that are past change nothing. */
export function step(state: ConnectionState, event: ConnectionEvent, nowMs: number): ConnectionStep {
  if (state.phase === "closed") return stay(state);
  if ("socket" in event && event.socket !== socketOf(state)) return stay(state);
  switch (event.type) {
    case "start":
      return state.phase === "idle" ? attempt(state) : stay(state);
    case "reconnect":
      if (state.phase === "refused")
        return attempt({ ...factsOf(state), failures: 0, refusals: 0, tokenKnown: false });
      return hurry({ ...state, failures: 0 }, nowMs);
    case "page":
      if (event.signal === "offline") return state.phase === "online" ? probe(state, nowMs) : stay(state);
      // Another network: what was learned of the last one says nothing of it.
      return hurry(event.signal === "online" ? { ...state, failures: 0, patience: 1 } : state, nowMs);
    case "token":
      if (state.phase === "asking" && state.ask === event.ask) return connect({ ...state, tokenKnown: true });
      if (state.phase === "online" && state.ask === event.ask) {
        return {
          state: { ...state, ask: undefined },
          effects: [{ do: "reauthenticate", socket: state.socket }],
        };
      }
      return stay(state);
    case "token-failed":
      if (state.phase === "asking" && state.ask === event.ask) return tokenFailed(state, event.cause);
      if (state.phase === "online" && state.ask === event.ask) return stay({ ...state, ask: undefined });
      return stay(state);
    case "opened":
      return state.phase === "connecting" ? greet(state, state.socket) : stay(state);
    case "heard":
      return state.phase === "online" ? stay(heard(state, nowMs)) : stay(state);
    case "welcome":
      return welcomed(state, event.socket, event.welcome, nowMs);
    case "fault":
      return faulted(state, event, nowMs);
    case "unreadable":
      return lost(state, { kind: "unreadable", cause: event.cause }, nowMs);
    case "closed": {
      const code = faultOfClose(event.code);
      if (code === undefined) return lost(state, { kind: "lost", closeCode: event.code }, nowMs);
      return faulted(state, { code, message: event.reason || `The relay closed with ${event.code}` }, nowMs);
    }
    case "timer":
      return "timer" in state && state.timer === event.timer
        ? due(state, nowMs, event.bufferedBytes)
        : stay(state);
    case "close":
      return {
        state: { ...factsOf(state), phase: "closed" },
        effects: [{ do: "stop-waiting" }, ...ending(state, CLOSE_DONE)],
      };
  }
}

function stay(state: ConnectionState): ConnectionStep {
  return { state, effects: [] };
}

/** From the facts alone: with a token that may be good straight to the relay, else to the token's source first. */
function attempt(state: ConnectionFacts): ConnectionStep {
  return state.tokenKnown ? connect(state) : ask(state);
}

function ask(state: ConnectionFacts): ConnectionStep {
  const facts = factsOf(state);
  const asked = facts.serial + 1;
  const { serial, effect } = wait(asked, exactly(ASK_LIMIT_MS));
  return {
    state: { ...facts, serial, phase: "asking", ask: asked, timer: serial },
    effects: [{ do: "ask-token", ask: asked }, effect],
  };
}

function connect(state: ConnectionFacts): ConnectionStep {
  const facts = factsOf(state);
  const socket = facts.serial + 1;
  const { serial, effect } = wait(socket, exactly(CONNECT_LIMIT_MS));
  return {
    state: { ...facts, serial, phase: "connecting", socket, timer: serial },
    effects: [{ do: "connect", socket }, effect],
  };
}

function greet(state: ConnectionFacts, socket: number): ConnectionStep {
  const { serial, effect } = wait(state.serial, exactly(GREETING_LIMIT_MS));
  return {
    state: { ...factsOf(state), serial, phase: "greeting", socket, timer: serial },
    effects: [{ do: "say-hello", socket }, effect],
  };
}

function welcomed(state: ConnectionState, socket: number, welcome: Welcome, nowMs: number): ConnectionStep {
  if (state.phase !== "greeting" && state.phase !== "online") return stay(state);
  if (welcome.protocol !== PROTOCOL_VERSION) {
    const message = `The relay speaks version ${welcome.protocol} of the protocol, this client ${PROTOCOL_VERSION}`;
    return faulted(state, { code: "version", message }, nowMs);
  }
  if (welcome.actorId !== state.actorId) {
    return faulted(state, { code: "forbidden", message: "The token is another actor's" }, nowMs);
  }
  const refreshMs = refreshTime(welcome, nowMs);
  if (state.phase === "online") return stay({ ...heard(state, nowMs), refreshMs });
  const online: Online = {
    ...factsOf(state),
    trouble: undefined,
    phase: "online",
    socket,
    timer: 0,
    sinceMs: nowMs,
    heardMs: nowMs,
    pings: 0,
    pingedMs: nowMs,
    pingedBytes: 0,
    refreshMs,
    ask: undefined,
  };
  const { state: next, effects } = listen(online, nowMs);
  return { state: next, effects: [...effects, { do: "tell-online", welcome }] };
}

function faulted(
  state: ConnectionState,
  fault: { readonly code: FaultCode; readonly message: string; readonly limit?: LimitNamed | undefined },
  nowMs: number,
): ConnectionStep {
  const trouble: ConnectionTrouble = {
    kind: "fault",
    code: fault.code,
    message: fault.message,
    limit: fault.limit,
  };
  switch (FAULTS[fault.code].remedy) {
    case "retry":
    case "rebase":
      return lost(state, trouble, nowMs);
    case "reauthenticate":
      return tokenRefused(state, trouble, nowMs);
    case "stop":
    case "fix":
      return {
        state: { ...factsOf(state), trouble, phase: "refused" },
        effects: [{ do: "stop-waiting" }, ...ending(state, CLOSE_DONE)],
      };
  }
}

function lost(state: ConnectionState, trouble: ConnectionTrouble, nowMs: number): ConnectionStep {
  const before = afterwards(state, nowMs);
  const silent = trouble.kind === "silent" && trouble.during === "online";
  const facts = silent ? { ...before, patience: morePatience(before.patience) } : before;
  const { serial, effect } = wait(facts.serial, retryDelay(facts.failures));
  return {
    state: { ...facts, serial, failures: facts.failures + 1, trouble, phase: "waiting", timer: serial },
    effects: [...ending(state, trouble.kind === "unreadable" ? CLOSE_UNREADABLE : CLOSE_DONE), effect],
  };
}

/** The source is asked once at once, and then with backoff (P9). */
function tokenRefused(state: ConnectionState, trouble: ConnectionTrouble, nowMs: number): ConnectionStep {
  const before = afterwards(state, nowMs);
  const facts = { ...before, refusals: before.refusals + 1, tokenKnown: false, trouble };
  const end = ending(state, CLOSE_DONE);
  if (before.refusals === 0) {
    const asked = ask(facts);
    return { state: asked.state, effects: [...end, ...asked.effects] };
  }
  const { serial, effect } = wait(facts.serial, refusedDelay(before.refusals - 1));
  return {
    state: { ...facts, serial, phase: "needs-auth", why: "refused", timer: serial },
    effects: [...end, effect],
  };
}

function tokenFailed(state: ConnectionFacts, cause: unknown): ConnectionStep {
  const facts = factsOf(state);
  const { serial, effect } = wait(facts.serial, retryDelay(facts.failures));
  return {
    state: {
      ...facts,
      serial,
      failures: facts.failures + 1,
      trouble: { kind: "no-token", cause },
      phase: "needs-auth",
      why: "source-failed",
      timer: serial,
    },
    effects: [effect],
  };
}

/** Something says that now is a good moment: no waiting, and a look whether what seems to stand still does. */
function hurry(state: ConnectionState, nowMs: number): ConnectionStep {
  switch (state.phase) {
    case "waiting":
      return attempt(state);
    case "needs-auth":
      return ask(state);
    case "online":
      return probe(state, nowMs);
    case "idle":
    case "asking":
    case "connecting":
    case "greeting":
    case "refused":
    case "closed":
      return stay(state);
  }
}

function due(state: ConnectionState, nowMs: number, bufferedBytes: number): ConnectionStep {
  switch (state.phase) {
    case "waiting":
      return attempt(state);
    case "needs-auth":
      return ask(state);
    case "asking":
      return tokenFailed(state, new Error(`The token source did not answer within ${ASK_LIMIT_MS} ms`));
    case "connecting":
    case "greeting":
      return lost(state, { kind: "silent", during: state.phase }, nowMs);
    case "online":
      return lifeDue(state, nowMs, bufferedBytes) ?? lost(state, { kind: "silent", during: "online" }, nowMs);
    case "idle":
    case "refused":
    case "closed":
      return stay(state);
  }
}

/** What it takes to leave the present phase. */
function ending(state: ConnectionState, code: number): ConnectionEffect[] {
  const socket = socketOf(state);
  const effects: ConnectionEffect[] = [];
  if (socket !== undefined) effects.push({ do: "end-socket", socket, code });
  if (state.phase === "online") effects.push({ do: "tell-offline" });
  return effects;
}

/** The facts once this connection is over: one that stood for a while clears the count of failures. */
function afterwards(state: ConnectionState, nowMs: number): ConnectionFacts {
  const facts = factsOf(state);
  const stable = state.phase === "online" && nowMs - state.sinceMs >= STABLE_MS;
  return stable ? { ...facts, failures: 0, refusals: 0 } : facts;
}

function factsOf(state: ConnectionFacts): ConnectionFacts {
  const { actorId, serial, failures, refusals, patience, tokenKnown, trouble } = state;
  return { actorId, serial, failures, refusals, patience, tokenKnown, trouble };
}
