import { describe, expect, test } from "vitest";
import type { Tabs } from "../../src/env/tabs.ts";
import { standaloneTabs } from "../../src/env/tabs.ts";
import type { LocalDatabase } from "../../src/store/database.ts";
import { FencedError, fencedDatabase } from "../../src/store/fenced-database.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { Leader } from "../../src/sync/leader.ts";
import { ANSWER_MS, ASK_MS, PATIENCE_MS } from "../../src/sync/leader-watch.ts";
import { LEASE_MS } from "../../src/sync/lease.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestTabs } from "../../src/testing/tabs.ts";

function profile() {
  const clock = new TestClock();
  const tabs = new TestTabs(clock);
  const log: string[] = [];
  const disk = new MemoryDisk();
  const open = (who: string, options: { tabs?: Tabs; db?: LocalDatabase<SyncRows> } = {}) => {
    const env = testEnvironment({ clock, tabs: options.tabs ?? tabs.open() });
    const leader = new Leader({
      name: "holdfast",
      tab: who,
      env,
      db: options.db ?? new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }),
      events: {
        onLead: (number) => log.push(`${who} leads ${number}`),
        onLose: () => log.push(`${who} loses`),
      },
    });
    return { leader, env };
  };
  return { clock, tabs, log, open, db: new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }) };
}

/** A database whose first write fails. */
class FailingOnce extends MemoryDatabase<SyncRows> {
  #failed = false;

  constructor() {
    super(SYNC_SCHEMA, { disk: new MemoryDisk() });
  }

  override write<R>(...work: Parameters<MemoryDatabase<SyncRows>["write"]>): Promise<R> {
    if (this.#failed) return super.write(...work) as Promise<R>;
    this.#failed = true;
    return Promise.reject(new Error("The database is closed"));
  }
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
    expect([a.leader.epoch, b.leader.leading]).toEqual([undefined, false]);
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

  test("[C37] without locks one tab leads, by a lease in the database; the next when it closes or is gone", async () => {
    const { clock, log, open } = profile();
    const noLocks = () => ({ tabs: standaloneTabs() });
    const a = open("a", noLocks());
    await clock.advance(0);
    const b = open("b", noLocks());
    await clock.advance(60_000);
    expect(log).toEqual(["a leads 1"]);
    await a.leader.close();
    await clock.advance(LEASE_MS / 3);
    expect(log).toEqual(["a leads 1", "a loses", "b leads 2"]);
    await b.leader.close();
  });

  test("[C37] a lease that nobody renews runs out, and one from a clock that jumped back does not bind", async () => {
    const { clock, db, log, open } = profile();
    for (const untilMs of [clock.now() + LEASE_MS, clock.now() + 86_400_000]) {
      await db.write(["meta"], (tx) => tx.put("meta", { key: "lease", value: { tab: "gone", untilMs } }));
      const { leader } = open("a", { tabs: standaloneTabs() });
      await clock.advance(LEASE_MS / 3 - 1);
      expect(leader.leading).toBe(untilMs > clock.now() + LEASE_MS);
      await clock.advance(LEASE_MS);
      expect(leader.leading).toBe(true);
      await leader.close();
    }
    expect(log).toEqual(["a leads 1", "a loses", "a leads 2", "a loses"]);
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
    const failing = new FailingOnce();
    const { env } = open("a", { db: failing });
    open("b");
    await clock.advance(0);
    expect(log).toEqual(["b leads 1"]);
    expect(env.reporter.reports).toMatchObject([{ level: "error", event: "leader.failed" }]);
    const alone = open("c", { tabs: standaloneTabs(), db: new FailingOnce() });
    await clock.advance(5_000);
    expect(log.at(-1)).toBe("c leads 1");
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

  test("[C38] a leader that does not answer is replaced by one follower; thawed, it is fenced off and queues again", async () => {
    const { clock, tabs, log, open, db } = profile();
    const [first, second, third] = [tabs.open(), tabs.open(), tabs.open()];
    const a = open("a", { tabs: first });
    open("b", { tabs: second });
    open("c", { tabs: third });
    await clock.advance(60_000);
    expect(log).toEqual(["a leads 1"]);
    const fenced = fencedDatabase(db, 1, () => a.leader.fenced(1));
    await fenced.write(["runs"], async () => {});
    first.freeze();
    await clock.advance(ASK_MS + ANSWER_MS + PATIENCE_MS + ASK_MS);
    expect(log).toEqual(["a leads 1", expect.stringMatching(/^[bc] leads 2$/)]);
    // It does not know yet; whatever it does next finds out, and does nothing.
    expect(a.leader.leading).toBe(true);
    let ran = false;
    await expect(
      fenced.write(["runs"], async () => {
        ran = true;
      }),
    ).rejects.toThrow(FencedError);
    expect([ran, a.leader.leading, log.at(-1)]).toEqual([false, false, "a loses"]);
    first.thaw();
    await clock.advance(60_000);
    expect(log).toHaveLength(3);
  });

  test("[C38] a leader that fell silent before anybody heard of it is replaced as well", async () => {
    const { clock, tabs, log, open, db } = profile();
    const first = tabs.open();
    open("a", { tabs: first });
    open("b");
    await clock.advance(0);
    await db.write(["meta"], (tx) => tx.put("meta", { key: "epoch", value: 7 }));
    first.freeze();
    await clock.advance(ASK_MS + ANSWER_MS + PATIENCE_MS);
    expect(log).toEqual(["a leads 1", "b leads 8"]);
  });

  test("[C38] a follower opened while the leader is silent takes over within one round", async () => {
    const { clock, tabs, log, open } = profile();
    const first = tabs.open();
    open("a", { tabs: first });
    await clock.advance(0);
    first.freeze();
    open("b");
    await clock.advance(ASK_MS + ANSWER_MS + PATIENCE_MS);
    expect(log).toEqual(["a leads 1", "b leads 2"]);
  });

  test("[C38] a leader steps down at the first word of a later one", async () => {
    const { clock, tabs, log, open } = profile();
    const a = open("a");
    open("b");
    const other = tabs.open().channel("holdfast/leader", () => {});
    await clock.advance(0);
    other.post({ say: "leads", epoch: 2 });
    await clock.advance(0);
    expect(log).toEqual(["a leads 1", "a loses", expect.stringMatching(/^b leads/)]);
    expect(a.leader.leading).toBe(false);
  });

  test("[C38] the word of a leader whose epoch is over does not keep a silent one in its place", async () => {
    const { clock, tabs, log, open } = profile();
    const [first, second] = [tabs.open(), tabs.open()];
    open("a", { tabs: first });
    open("b", { tabs: second });
    const c = open("c");
    await clock.advance(0);
    first.kill();
    await clock.advance(0);
    expect([log.at(-1), c.leader.latestEpoch]).toEqual(["b leads 2", 2]);
    const believer = tabs.open().channel("holdfast/leader", (said) => {
      if ((said as { say: string }).say === "ask") believer.post({ say: "leads", epoch: 1 });
    });
    second.freeze();
    await clock.advance(2 * ASK_MS + ANSWER_MS + PATIENCE_MS);
    expect(log.at(-1)).toBe("c leads 3");
  });

  test("[C7, C38] after the database was emptied epochs go on from what the tabs have heard", async () => {
    const { clock, log, open, db } = profile();
    const a = open("a");
    open("b");
    await clock.advance(0);
    await db.write(["meta"], (tx) => tx.delete("meta", ["epoch"]));
    await a.leader.close();
    await clock.advance(1_000);
    expect(log).toEqual(["a leads 1", "a loses", "b leads 2"]);
  });

  test("[C35, C38] a tab that slept itself, or is not seen, takes nothing away", async () => {
    const { clock, tabs, log, open } = profile();
    const first = tabs.open();
    open("a", { tabs: first });
    const b = open("b");
    await clock.advance(0);
    b.env.page.signal("hidden");
    first.freeze();
    await clock.advance(120_000);
    expect(log).toEqual(["a leads 1"]);
    first.thaw();
    b.env.page.signal("visible");
    // Every timer of this tab comes a minute late, as it does in the background.
    for (let minute = 0; minute < 5; minute++) {
      clock.jump(60_000);
      await clock.advance(ASK_MS);
    }
    expect(log).toEqual(["a leads 1"]);
  });

  test("[C38] a page that goes to sleep gives up the lead, and queues again when it wakes", async () => {
    for (const [sleeps, wakes] of [
      ["freeze", "resume"],
      ["pagehide", "pageshow"],
    ] as const) {
      const { clock, log, open } = profile();
      const a = open("a");
      const b = open("b");
      await clock.advance(0);
      a.env.page.signal(sleeps);
      await clock.advance(10_000);
      a.env.page.signal(wakes);
      await clock.advance(10_000);
      expect(log).toEqual(["a leads 1", "a loses", "b leads 2"]);
      await b.leader.close();
      await clock.advance(0);
      expect(log.at(-1)).toBe("a leads 3");
    }
  });
});
