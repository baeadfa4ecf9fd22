import { describe, expect, test } from "vitest";
import { standaloneTabs } from "../../src/env/tabs.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { TestTabs } from "../../src/testing/tabs.ts";

function held(): { work: () => Promise<void>; release: () => void; runs: () => boolean } {
  let release = (): void => {};
  let runs = false;
  return {
    work: () => {
      runs = true;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
    runs: () => runs,
  };
}

describe("simulated tabs", () => {
  test("[C37] one tab at a time holds a lock, the others wait in order", async () => {
    const clock = new TestClock();
    const profile = new TestTabs(clock);
    const works = [held(), held(), held()];
    for (const { work } of works) void profile.open().lock("sync", work);
    await clock.advance(0);
    expect(works.map(({ runs }) => runs())).toEqual([true, false, false]);
    works[0]?.release();
    await clock.advance(0);
    expect(works.map(({ runs }) => runs())).toEqual([true, true, false]);
  });

  test("[C37] a killed tab gives up its locks and its place in the queue", async () => {
    const clock = new TestClock();
    const profile = new TestTabs(clock);
    const tabs = [profile.open(), profile.open(), profile.open()];
    const works = tabs.map((tab) => {
      const work = held();
      void tab.lock("sync", work.work);
      return work;
    });
    await clock.advance(0);
    tabs[1]?.kill();
    tabs[0]?.kill();
    await clock.advance(0);
    expect(works.map(({ runs }) => runs())).toEqual([true, false, true]);
  });

  test("[H12] channels reach the other tabs with a copy, not the sender, and not dead tabs", async () => {
    const clock = new TestClock();
    const profile = new TestTabs(clock);
    const heard: unknown[] = [];
    const [a, b, c] = [profile.open(), profile.open(), profile.open()];
    const channel = a.channel("feed", (data) => heard.push(["a", data]));
    b.channel("feed", (data) => heard.push(["b", data]));
    c.channel("feed", (data) => heard.push(["c", data]));
    const data = { n: 1 };
    channel.post(data);
    data.n = 2;
    c.kill();
    await clock.advance(0);
    expect(heard).toEqual([["b", { n: 1 }]]);
  });
});

describe.each([
  ["a simulated tab", () => new TestTabs(new TestClock()).open()],
  ["standalone tabs", () => standaloneTabs()],
])("locks of %s", (_name, open) => {
  test("[C37] aborting leaves the queue with the signal's reason, and ends no work that has begun", async () => {
    const tabs = open();
    const first = held();
    const begun = new AbortController();
    const done = tabs.lock("sync", first.work, { signal: begun.signal });
    const leaving = new AbortController();
    const left = tabs.lock("sync", async () => "ran", { signal: leaving.signal });
    const third = tabs.lock("sync", async () => "third");
    await Promise.resolve();
    begun.abort();
    leaving.abort(new Error("not any more"));
    await expect(left).rejects.toThrow("not any more");
    expect(first.runs()).toBe(true);
    first.release();
    await expect(done).resolves.toBeUndefined();
    await expect(third).resolves.toBe("third");
  });

  test("[S13] work that fails rejects its own promise and frees the lock", async () => {
    const tabs = open();
    const failed = tabs.lock("sync", async () => {
      throw new Error("broken");
    });
    const next = tabs.lock("sync", async () => "next");
    await expect(failed).rejects.toThrow("broken");
    await expect(next).resolves.toBe("next");
  });
});
