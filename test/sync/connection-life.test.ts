import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { online } from "./connection-world.ts";

describe("a connection's signs of life", () => {
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
