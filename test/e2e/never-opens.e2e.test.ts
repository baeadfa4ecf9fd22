import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { untilReady } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";
import { enginesHere, Profile } from "../support/engines.ts";
import { until } from "../support/until.ts";

let setting: EngineSetting;
beforeAll(async () => {
  setting = await openEngineSetting();
});
afterAll(() => setting?.close());

describe.each(enginesHere())("in $name", (engine) => {
  let profile: Profile;
  beforeAll(() => {
    profile = new Profile(engine);
  });
  afterAll(() => profile?.dispose());

  test("[C53] an IndexedDB whose open never settles: memory within the time limit, the status says so, the page is not held up, the relay is reached", async () => {
    const tab = await profile.openTab(setting.site.url);
    await untilReady(tab);
    const given = { url: setting.cable.url, actorId: `never-opens-${engine.name}` };
    const seen = await tab.run(async (options) => {
      // A request that nobody ever answers, as some browsers give after a crash of their storage.
      IDBFactory.prototype.open = () => new EventTarget() as IDBOpenDBRequest;
      let ticks = 0;
      const ticking = setInterval(() => {
        ticks += 1;
      }, 50);
      const begun = performance.now();
      await window.desk.open(options);
      clearInterval(ticking);
      await window.desk.say("talk", ["still heard"]);
      return { tookMs: performance.now() - begun, ticks, status: window.desk.status() };
    }, given);
    expect(seen.status.storage).toBe("memory");
    expect(seen.tookMs).toBeLessThan(12_000);
    // Its timers ran all the while.
    expect(seen.ticks).toBeGreaterThan(20);
    await until("sent", async () => {
      const { link, pending } = await tab.run(() => window.desk.status());
      return link === "online" && pending === 0;
    });
  });
});
