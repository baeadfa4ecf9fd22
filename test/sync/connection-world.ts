import fc from "fast-check";
import { expect } from "vitest";
import { step } from "../../src/sync/connection.ts";
import {
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
  initialConnection,
  socketOf,
} from "../../src/sync/connection-state.ts";
import { FAULTS, type FaultCode } from "../../src/wire/fault.ts";
import { welcomeOf } from "./link-relay.ts";

/** What may happen, told without the numbers, which the world below knows. */
type Happening =
  | { readonly what: "start" | "reconnect" | "timer" | "late-timer" | "token" | "token-failed" }
  | { readonly what: "page"; readonly signal: "online" | "offline" | "visible" }
  | { readonly what: "opened" | "heard" | "unreadable" | "welcome"; readonly late: boolean }
  | { readonly what: "fault"; readonly code: FaultCode; readonly late: boolean }
  | { readonly what: "closed"; readonly code: number; readonly late: boolean };

export const codes = Object.keys(FAULTS) as FaultCode[];
const late = fc.boolean();
export const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    what: fc.constantFrom("start", "reconnect", "timer", "timer", "late-timer", "token", "token-failed"),
  }),
  fc.record({ what: fc.constant("page"), signal: fc.constantFrom("online", "offline", "visible") }),
  fc.record({ what: fc.constantFrom("opened", "opened", "heard", "unreadable", "welcome", "welcome"), late }),
  fc.record({ what: fc.constant("fault"), code: fc.constantFrom(...codes), late }),
  fc.record({ what: fc.constant("closed"), code: fc.constantFrom(1000, 1006, 1013, 4401, 4403, 4409), late }),
) as fc.Arbitrary<Happening>;

/** A world that does what the decider says, and checks that it never says what must not be. */
export class World {
  state: ConnectionState = initialConnection("ada");
  nowMs = 1_000_000;
  readonly sockets = new Set<number>();
  last = { socket: 0, ask: 0, timer: 0 };
  timer: number | undefined;
  /** Handed to the socket, and not left. */
  bufferedBytes = 0;
  told: "online" | "offline" = "offline";
  connects = 0;
  readonly asked: number[] = [];

  happen(happening: Happening, passedMs: number): void {
    this.nowMs += passedMs;
    this.give(this.eventOf(happening));
  }

  give(event: ConnectionEvent): void {
    if (event.type === "closed") this.sockets.delete(event.socket);
    const { state, effects } = step(this.state, event, this.nowMs);
    this.state = state;
    for (const effect of effects) this.perform(effect);
    this.check();
  }

  eventOf(happening: Happening): ConnectionEvent {
    const { what } = happening;
    const socket = "late" in happening && happening.late ? this.last.socket - 3 : this.last.socket;
    switch (what) {
      case "start":
      case "reconnect":
        return { type: what };
      case "page":
        return { type: "page", signal: happening.signal };
      case "timer":
        return { type: "timer", timer: this.timer ?? 0, bufferedBytes: this.bufferedBytes };
      case "late-timer":
        return { type: "timer", timer: this.last.timer - 1, bufferedBytes: this.bufferedBytes };
      case "token":
        return { type: "token", ask: this.last.ask };
      case "token-failed":
        return { type: "token-failed", ask: this.last.ask, cause: undefined };
      case "opened":
      case "heard":
        return { type: what, socket };
      case "unreadable":
        return { type: "unreadable", socket, cause: undefined };
      case "welcome":
        return { type: "welcome", socket, welcome: welcomeOf() };
      case "fault":
        return { type: "fault", socket, code: happening.code, message: "" };
      case "closed":
        return { type: "closed", socket, code: happening.code, reason: "" };
    }
  }

  perform(effect: ConnectionEffect): void {
    switch (effect.do) {
      case "connect":
        expect(this.sockets.size, "a second socket").toBe(0);
        this.sockets.add(effect.socket);
        this.last.socket = effect.socket;
        this.connects += 1;
        break;
      case "end-socket":
        this.sockets.delete(effect.socket);
        break;
      case "ask-token":
        this.last.ask = effect.ask;
        this.asked.push(effect.ask);
        break;
      case "wait":
        expect(effect.range.minMs).toBeGreaterThanOrEqual(0);
        expect(effect.range.maxMs).toBeLessThanOrEqual(30_000);
        expect(effect.range.minMs).toBeLessThanOrEqual(effect.range.maxMs);
        this.timer = effect.timer;
        this.last.timer = effect.timer;
        break;
      case "stop-waiting":
        this.timer = undefined;
        break;
      case "tell-online":
        expect(this.told).toBe("offline");
        this.told = "online";
        break;
      case "tell-offline":
        expect(this.told).toBe("online");
        this.told = "offline";
        break;
      case "say-hello":
      case "reauthenticate":
      case "ping":
        expect(this.sockets.has(effect.socket), `${effect.do} on a socket that is over`).toBe(true);
        break;
    }
  }

  check(): void {
    const { phase } = this.state;
    const socket = socketOf(this.state);
    expect([...this.sockets]).toEqual(socket === undefined ? [] : [socket]);
    expect(this.told === "online").toBe(phase === "online");
    expect("timer" in this.state ? this.state.timer : undefined).toBe(this.timer);
    const rests = phase === "idle" || phase === "refused" || phase === "closed";
    expect(rests, `stuck in ${phase}`).toBe(this.timer === undefined);
  }
}

/** A world whose connection stands. */
export function online(): World {
  const world = new World();
  world.give({ type: "start" });
  world.happen({ what: "token" }, 0);
  world.happen({ what: "opened", late: false }, 0);
  world.happen({ what: "welcome", late: false }, 0);
  return world;
}
