import { describe, expect, test } from "vitest";
import type { PageSignal } from "../../src/env/page.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestPage } from "../../src/testing/page.ts";
import { seededRandom } from "../../src/testing/random.ts";

describe("seeded randomness", () => {
  test("[H12] the same seed gives the same numbers, another seed others, a fork neither", () => {
    const draw = (seed: number): number[] => {
      const random = seededRandom(seed);
      return [random.fraction(), random.below(1000), ...random.bytes(4)];
    };
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
    const random = seededRandom(5);
    const forked = random.fork("a").fraction();
    random.fraction();
    expect(random.fork("a").fraction()).toBe(forked);
    expect(random.fork("b").fraction()).not.toBe(forked);
  });

  test("[H12] numbers are spread evenly and stay in their bounds, also for neighbouring seeds", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let seed = 0; seed < 2000; seed++) {
      const tenth = seededRandom(seed).below(10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(tenths).toHaveLength(10);
    expect(Math.min(...tenths)).toBeGreaterThan(140);
    const random = seededRandom(1);
    const heads = Array.from({ length: 4000 }, () => random.chance(0.25)).filter(Boolean).length;
    expect(heads).toBeGreaterThan(900);
    expect(heads).toBeLessThan(1100);
  });
});

describe("the test environment", () => {
  test("[H12] a page tells its watchers after it says so itself", () => {
    const page = new TestPage();
    const seen: [PageSignal, boolean, boolean][] = [];
    const leave = page.watch((signal) => seen.push([signal, page.online, page.visible]));
    for (const signal of ["offline", "hidden", "online", "freeze"] as const) page.signal(signal);
    leave();
    page.signal("visible");
    expect(seen).toEqual([
      ["offline", false, true],
      ["hidden", false, false],
      ["online", true, false],
      ["freeze", true, false],
    ]);
    expect(page.visible).toBe(true);
  });

  test("[H12] without a network every connection fails, once and by the clock", async () => {
    const { clock, sockets, reporter, tabs } = testEnvironment();
    const log: string[] = [];
    const socket = sockets.connect("ws://nowhere", {
      opened: () => log.push("opened"),
      received: () => log.push("received"),
      closed: (code) => log.push(`closed ${code}`),
    });
    socket.send("lost");
    socket.close();
    expect([log, socket.bufferedBytes, tabs.locksAvailable]).toEqual([[], 0, false]);
    await clock.advance(0);
    expect(log).toEqual(["closed 1006"]);
    reporter.report("info", "seen");
    expect(reporter.reports).toEqual([{ level: "info", event: "seen", detail: {} }]);
  });
});
