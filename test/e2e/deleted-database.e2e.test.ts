import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskTab, untilReady } from "../support/desk-tab.ts";
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

  test("[C7, H1] another page deletes the database while two tabs of it run with unsent messages: everything is back, once", async () => {
    const actorId = `deleted-${engine.name}`;
    const place = { site: setting.site.url, url: setting.cable.url, actorId };
    const one = await DeskTab.open(profile, place);
    await one.untilOnline();
    const sent = await one.say("talk", "sent 1", "sent 2");
    await one.setState("talk", "colour", "green");
    await one.flush();
    const two = await DeskTab.open(profile, place);
    expect(await two.texts("talk")).toEqual(["sent 1", "sent 2"]);
    setting.cable.cut();
    const unsent = await one.say("talk", "unsent 1", "unsent 2");
    const other = await two.say("elsewhere", "unsent 3");
    await one.seen("talk");

    const stranger = await profile.openTab(setting.site.url);
    await untilReady(stranger);
    const deleted = await stranger.run(
      (name) =>
        new Promise<string>((resolve) => {
          const request = indexedDB.deleteDatabase(name);
          request.onsuccess = () => resolve("deleted");
          request.onerror = () => resolve(String(request.error));
        }),
      ["holdfast", "", setting.cable.url, actorId].map(encodeURIComponent).join("/"),
    );
    expect(deleted).toBe("deleted");
    for (const desk of [one, two])
      await until("the status says so", async () => (await desk.status()).storage === "reset");
    await until("it is put back", async () => (await one.status()).pending === 3);
    // Goes into the new database, behind what waits.
    const late = await one.say("talk", "written meanwhile");

    setting.cable.heal();
    await one.reconnect();
    for (const desk of [one, two])
      await until("it is whole", async () => {
        const { storage, pending } = await desk.status();
        return pending === 0 && (storage === "best-effort" || storage === "persisted");
      });
    for (const desk of [one, two]) {
      expect(await desk.ids("talk")).toEqual([...sent, ...unsent, ...late]);
      expect(await desk.ids("elsewhere")).toEqual(other);
      expect(await desk.state("talk")).toEqual({ colour: "green" });
      expect(await desk.status()).toMatchObject({ rejected: 0, link: "online" });
    }
    await until("the window went on", async () =>
      (await one.seen("talk")).every(({ delivery }) => delivery === "confirmed"),
    );
    expect((await one.seen("talk")).map(({ id }) => id)).toEqual([...sent, ...unsent, ...late]);
    // And it is on disk: a start without a network shows it.
    setting.cable.cut();
    await one.reload();
    expect(await one.ids("talk")).toEqual([...sent, ...unsent, ...late]);
    setting.cable.heal();
  });
});
