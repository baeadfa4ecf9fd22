import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { online, type World } from "./connection-world.ts";

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

  /** Lets time pass until that moment, with every timer in between. */
  function passUntil(world: World, untilMs: number): void {
    for (;;) {
      const { state } = world;
      const online = state.phase === "online";
      const dueMs = !online
        ? world.nowMs + 1_000
        : state.pings > 0
          ? state.pingedMs + 10_000
          : state.heardMs + 25_000;
      if (dueMs > untilMs) break;
      world.happen({ what: "timer" }, Math.max(0, dueMs - world.nowMs));
      if (world.state.phase === "connecting") {
        world.happen({ what: "opened", late: false }, 0);
        world.happen({ what: "welcome", late: false }, 0);
        return;
      }
    }
    world.nowMs = untilMs;
  }

  test("[C33] frames of which nothing shows for minutes come through all the same, after four attempts at most; and a fast line is judged fast again", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 180_000 }),
        fc.integer({ min: 1, max: 8 }),
        (frameMs, frames) => {
          const world = online();
          for (let left = frames; left > 0; ) {
            const connects = world.connects;
            passUntil(world, world.nowMs + frameMs);
            // The frame begins anew with a new connection.
            if (world.connects !== connects) continue;
            world.happen({ what: "heard", late: false }, 0);
            left -= 1;
          }
          expect(world.connects).toBeLessThanOrEqual(5);
          for (let n = 0; n < 16; n += 1) {
            passUntil(world, world.nowMs + 25_000);
            world.happen({ what: "heard", late: false }, 100);
          }
          expect(world.state.patience).toBe(1);
          const before = world.connects;
          passUntil(world, world.nowMs + 40_000);
          expect(world.connects).toBe(before + 1);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("[C33] a long upload is life as long as some of it leaves, and its end is noticed when nothing does", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (steps) => {
        const world = online();
        world.bufferedBytes = 1_000_000;
        world.happen({ what: "timer" }, 25_000);
        for (let n = 0; n < steps; n += 1) {
          world.bufferedBytes -= 1_000;
          world.happen({ what: "timer" }, 10_000);
          expect(world.state.phase).toBe("online");
        }
        world.happen({ what: "timer" }, 10_000);
        expect(world.state.phase).toBe("waiting");
      }),
    );
  });

  test("[C34] on another network nothing is known of the last one: a dead line is noticed within its first limit", () => {
    const world = online();
    for (let n = 0; n < 3; n += 1) {
      while (world.state.phase === "online") world.happen({ what: "timer" }, n === 0 ? 25_000 : 10_000);
      world.happen({ what: "timer" }, 1_000);
      world.happen({ what: "opened", late: false }, 0);
      world.happen({ what: "welcome", late: false }, 0);
    }
    expect(world.state.patience).toBe(8);
    world.happen({ what: "page", signal: "online" }, 0);
    world.happen({ what: "timer" }, 10_000);
    expect(world.state.phase).toBe("waiting");
  });
});
