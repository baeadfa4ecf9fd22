import { describe, expect, test } from "vitest";
import type { Tabs } from "../../src/env/tabs.ts";
import { standaloneTabs } from "../../src/env/tabs.ts";
import { Leader } from "../../src/sync/leader.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestTabs } from "../../src/testing/tabs.ts";

function profile() {
  const clock = new TestClock();
  const tabs = new TestTabs(clock);
  const log: string[] = [];
  let epoch = 0;
  const open = (who: string, options: { tabs?: Tabs; nextEpoch?: () => Promise<number> } = {}) => {
    const env = testEnvironment({ clock, tabs: options.tabs ?? tabs.open() });
    const leader = new Leader({
      name: "holdfast",
      env,
      nextEpoch: options.nextEpoch ?? (async () => ++epoch),
      events: {
        onLead: (number) => log.push(`${who} leads ${number}`),
        onLose: () => log.push(`${who} loses`),
      },
    });
    return { leader, env };
  };
  return { clock, tabs, log, open };
}

describe("the leader", () => {
  test("[C37] of several tabs one leads; when it closes the next does, with a greater epoch, and never two at once", async () => {
    const { clock, log, open } = profile();
    const [a, b, c] = [open("a"), open("b"), open("c")];
    await clock.advance(0);
    expect(log).toEqual(["a leads 1"]);
    expect([a, b, c].map(({ leader }) => leader.leading)).toEqual([true, false, false]);
    await b.leader.close();
    await a.leader.close();
    await clock.advance(0);
    expect(log).toEqual(["a leads 1", "a loses", "c leads 2"]);
    expect(c.leader.epoch).toBe(2);
    expect([a.leader.alone, a.leader.epoch, b.leader.leading]).toEqual([false, undefined, false]);
  });

  test("[C37] when the leading tab is killed another takes over", async () => {
    const { clock, tabs, log, open } = profile();
    const first = tabs.open();
    open("a", { tabs: first });
    open("b");
    await clock.advance(0);
    first.kill();
    await clock.advance(0);
    expect(log).toEqual(["a leads 1", "b leads 2"]);
  });

  test("[C37] without locks a tab leads at once and says that it is alone", async () => {
    const { clock, log, open } = profile();
    const { leader } = open("a", { tabs: standaloneTabs() });
    expect(leader.leading).toBe(false);
    await clock.advance(0);
    expect([leader.leading, leader.alone]).toEqual([true, true]);
    await leader.close();
    expect(log).toEqual(["a leads 1", "a loses"]);
  });

  test("[C37] closing at any moment leaves no lock behind and loses what was led", async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { clock, log, open } = profile();
      const { leader } = open("a");
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await leader.close();
      open("b");
      await clock.advance(0);
      expect(log.filter((event) => event.startsWith("a")).length % 2, `after ${turns} turns`).toBe(0);
      expect(log.at(-1)).toMatch(/^b leads/);
      expect(clock.waiting).toBe(0);
    }
  });

  test("[H10] when leading cannot begin it is reported, the lock is free meanwhile, and it is tried again", async () => {
    const { clock, log, open } = profile();
    let tries = 0;
    const { env } = open("a", {
      nextEpoch: async () => {
        tries += 1;
        if (tries < 3) throw new Error("The database is closed");
        return 40;
      },
    });
    open("b");
    await clock.advance(0);
    expect(log).toEqual(["b leads 1"]);
    expect(env.reporter.reports).toMatchObject([{ level: "error", event: "leader.failed" }]);
    const alone = open("c", {
      tabs: standaloneTabs(),
      nextEpoch: async () => {
        tries += 1;
        if (tries < 4) throw new Error("The database is closed");
        return 50;
      },
    });
    await clock.advance(5_000);
    expect(log.at(-1)).toBe("c leads 50");
    await alone.leader.close();
  });

  test("[C38] a leader whose lock is taken away loses, and queues again", async () => {
    const { clock, log, open } = profile();
    let steal = (): void => {};
    let grants = 0;
    const tabs: Tabs = {
      ...standaloneTabs(),
      locksAvailable: true,
      lock: (_name, work) => {
        grants += 1;
        return new Promise((resolve, reject) => {
          steal = () => reject(new DOMException("stolen", "AbortError"));
          work().then(resolve, reject);
        });
      },
    };
    const { leader } = open("a", { tabs });
    await clock.advance(0);
    steal();
    await clock.advance(0);
    expect([leader.leading, log]).toEqual([false, ["a leads 1", "a loses"]]);
    await clock.advance(1_000);
    expect([grants, log.at(-1)]).toEqual([2, "a leads 2"]);
    await leader.close();
  });
});
