import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { step } from "../../src/sync/connection.ts";
import {
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
  initialConnection,
  linkStatus,
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

const codes = Object.keys(FAULTS) as FaultCode[];
const late = fc.boolean();
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    what: fc.constantFrom("start", "reconnect", "timer", "timer", "late-timer", "token", "token-failed"),
  }),
  fc.record({ what: fc.constant("page"), signal: fc.constantFrom("online", "offline", "visible") }),
  fc.record({ what: fc.constantFrom("opened", "opened", "heard", "unreadable", "welcome", "welcome"), late }),
  fc.record({ what: fc.constant("fault"), code: fc.constantFrom(...codes), late }),
  fc.record({ what: fc.constant("closed"), code: fc.constantFrom(1000, 1006, 1013, 4401, 4403, 4409), late }),
) as fc.Arbitrary<Happening>;

/** A world that does what the decider says, and checks that it never says what must not be. */
class World {
  state: ConnectionState = initialConnection("ada");
  nowMs = 1_000_000;
  readonly sockets = new Set<number>();
  last = { socket: 0, ask: 0, timer: 0 };
  timer: number | undefined;
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
        return { type: "timer", timer: this.timer ?? 0 };
      case "late-timer":
        return { type: "timer", timer: this.last.timer - 1 };
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

const steps = fc.array(fc.tuple(happening, fc.nat(90_000)), { maxLength: 60 });

describe("the connection, whatever happens", () => {
  test("[C32] there is at most one socket, it is told truly, and nothing is stuck without a timer", () => {
    fc.assert(
      fc.property(steps, (happenings) => {
        const world = new World();
        world.give({ type: "start" });
        for (const [happening, passedMs] of happenings) world.happen(happening, passedMs);
      }),
      { numRuns: 3000 },
    );
  });

  test("[C29] when the relay and the token source are well again, the connection stands within a few timers", () => {
    fc.assert(
      fc.property(steps, (happenings) => {
        const world = new World();
        world.give({ type: "start" });
        for (const [happening, passedMs] of happenings) world.happen(happening, passedMs);
        fc.pre(world.state.phase !== "refused");
        for (let rounds = 0; rounds < 4 && world.state.phase !== "online"; rounds++) {
          if (world.state.phase === "waiting" || world.state.phase === "needs-auth") {
            world.happen({ what: "timer" }, 30_000);
          }
          if (world.state.phase === "asking") world.happen({ what: "token" }, 0);
          if (world.state.phase === "connecting") world.happen({ what: "opened", late: false }, 0);
          if (world.state.phase === "greeting") world.happen({ what: "welcome", late: false }, 0);
        }
        expect(world.state.phase).toBe("online");
      }),
      { numRuns: 1000 },
    );
  });

  test("[C30] after a final refusal nothing but reconnect makes a connection", () => {
    const final = fc.constantFrom(...codes.filter((code) => ["stop", "fix"].includes(FAULTS[code].remedy)));
    const others = steps.map((all) => all.filter(([{ what }]) => what !== "reconnect"));
    fc.assert(
      fc.property(final, others, fc.boolean(), (code, happenings, online) => {
        const world = new World();
        world.give({ type: "start" });
        world.happen({ what: "token" }, 0);
        world.happen({ what: "opened", late: false }, 0);
        if (online) world.happen({ what: "welcome", late: false }, 0);
        world.happen({ what: "fault", code, late: false }, 0);
        expect(linkStatus(world.state, true)).toBe("refused");
        for (const [happening, passedMs] of happenings) world.happen(happening, passedMs);
        expect(world.connects).toBe(1);
        world.happen({ what: "reconnect" }, 0);
        world.happen({ what: "token" }, 0);
        expect(world.connects).toBe(2);
      }),
      { numRuns: 500 },
    );
  });

  test("[C32] after close nothing happens any more", () => {
    fc.assert(
      fc.property(steps, steps, (before, after) => {
        const world = new World();
        world.give({ type: "start" });
        for (const [happening, passedMs] of before) world.happen(happening, passedMs);
        world.give({ type: "close" });
        const { connects, asked } = world;
        const questions = asked.length;
        for (const [happening, passedMs] of after) world.happen(happening, passedMs);
        expect(world.state.phase).toBe("closed");
        expect([world.connects, world.asked.length]).toEqual([connects, questions]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("what a status tells", () => {
  const online = (): World => {
    const world = new World();
    world.give({ type: "start" });
    world.happen({ what: "token" }, 0);
    world.happen({ what: "opened", late: false }, 0);
    world.happen({ what: "welcome", late: false }, 0);
    return world;
  };

  test("[H12] a refused token is needs-auth, connecting with the first fresh one is connecting, after that needs-auth", () => {
    const world = online();
    const seen: string[] = [];
    const tell = (): number => seen.push(linkStatus(world.state, true));
    for (let round = 0; round < 2; round++) {
      world.happen({ what: "fault", code: "unauthenticated", late: false }, 0);
      tell();
      if (world.state.phase === "needs-auth") world.happen({ what: "timer" }, 0);
      world.happen({ what: "token" }, 0);
      tell();
      world.happen({ what: "opened", late: false }, 0);
    }
    expect(seen).toEqual(["needs-auth", "connecting", "needs-auth", "needs-auth"]);
    world.happen({ what: "welcome", late: false }, 0);
    tell();
    expect(seen.at(-1)).toBe("online");
  });

  test("[P9] a connection that stood for ten seconds clears the failures before it, a shorter one does not", () => {
    const world = new World();
    world.give({ type: "start" });
    world.happen({ what: "token" }, 0);
    for (let failure = 0; failure < 6; failure++) {
      world.happen({ what: "closed", code: 1006, late: false }, 0);
      world.happen({ what: "timer" }, 0);
    }
    world.happen({ what: "opened", late: false }, 0);
    world.happen({ what: "welcome", late: false }, 0);
    world.happen({ what: "closed", code: 1006, late: false }, 9_999);
    expect(world.state.failures).toBe(7);
    world.happen({ what: "timer" }, 0);
    world.happen({ what: "opened", late: false }, 0);
    world.happen({ what: "welcome", late: false }, 0);
    world.happen({ what: "closed", code: 1006, late: false }, 10_000);
    expect(world.state.failures).toBe(1);
  });

  test.each(codes)("[P9] the fault %s is met by what its remedy says, in band or as a close code", (code) => {
    const expected = {
      retry: "waiting",
      rebase: "waiting",
      reauthenticate: "asking",
      stop: "refused",
      fix: "refused",
    };
    const inBand = online();
    inBand.happen({ what: "fault", code, late: false }, 0);
    expect(inBand.state.phase).toBe(expected[FAULTS[code].remedy]);
    const { close } = FAULTS[code];
    if (close === null) return;
    const byClose = online();
    byClose.happen({ what: "closed", code: close, late: false }, 0);
    expect(byClose.state.phase).toBe(expected[FAULTS[code].remedy]);
  });

  test("[C35] a page that slept over its ping gets a second chance before the connection counts as dead", () => {
    const world = online();
    world.happen({ what: "timer" }, 25_000);
    world.happen({ what: "timer" }, 300_000);
    expect(world.state.phase).toBe("online");
    world.happen({ what: "heard", late: false }, 5);
    world.happen({ what: "timer" }, 10_000);
    expect(world.state.phase).toBe("online");
    world.happen({ what: "timer" }, 25_000);
    world.happen({ what: "timer" }, 300_000);
    world.happen({ what: "timer" }, 300_000);
    expect(world.state.phase).toBe("waiting");
  });

  test("[C35] timers that fire once a minute raise no alarm and make no connection, for hours", () => {
    fc.assert(
      fc.property(fc.nat(59_999), fc.boolean(), (offsetMs, asleep) => {
        const world = online();
        for (let minute = 0; minute < 180; minute++) {
          world.happen({ what: "timer" }, minute === 0 ? offsetMs + 1 : 60_000);
          // A page that sleeps reads the answer only with, or just after, the next timer.
          if (!asleep || minute % 2 === 1) world.happen({ what: "heard", late: false }, 5);
        }
        expect([world.state.phase, world.connects]).toEqual(["online", 1]);
      }),
      { numRuns: 200 },
    );
  });

  test("[C34] however late the timer, the second ping without an answer ends the connection", () => {
    fc.assert(
      fc.property(fc.nat(600_000), fc.nat(600_000), (first, second) => {
        const world = online();
        world.happen({ what: "timer" }, 25_000);
        world.happen({ what: "timer" }, 10_000 + first);
        expect(world.state.phase).toBe(first > 2_000 ? "online" : "waiting");
        if (world.state.phase === "online") world.happen({ what: "timer" }, 10_000 + second);
        expect(world.state.phase).toBe("waiting");
      }),
    );
  });

  test("[C33] whatever comes counts as life: a first sync that drips for minutes is never cut", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 34_000 }), { minLength: 5, maxLength: 40 }), (gaps) => {
        const world = online();
        let due = world.nowMs + 25_000;
        for (const gap of gaps) {
          const arrives = world.nowMs + gap;
          while (due <= arrives) {
            const before = world.timer;
            world.happen({ what: "timer" }, Math.max(0, due - world.nowMs));
            expect(world.timer).not.toBe(before);
            const { state } = world;
            const pinged = state.phase === "online" && state.pings > 0;
            due = world.nowMs + (pinged ? 10_000 : 1_000);
          }
          world.happen({ what: "heard", late: false }, arrives - world.nowMs);
        }
        expect([world.state.phase, world.connects]).toEqual(["online", 1]);
      }),
      { numRuns: 300 },
    );
  });
});
