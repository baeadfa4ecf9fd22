import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linkStatus } from "../../src/sync/connection-state.ts";
import { FAULTS } from "../../src/wire/fault.ts";
import { codes, happening, online, World } from "./connection-world.ts";

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
});
