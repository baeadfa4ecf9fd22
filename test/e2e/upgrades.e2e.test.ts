import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskTab, soon, untilReady } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";
import type { Tab } from "../support/engines/engine.ts";
import { enginesHere, Profile } from "../support/engines.ts";
import { OLD_STORES } from "../support/old-database.ts";

const rows = readFileSync(new URL("../data/local-schema-1.json", import.meta.url), "utf8");
/** Sessions beside those of the fixture, so that an upgrade takes its time. */
const MORE_SESSIONS = 3_000;
/** The upgrade is killed after so many milliseconds each: somewhere before, in, or behind it. */
const KILLED_AFTER_MS = [20, 60, 100, 150, 220, 300];

let setting: EngineSetting;
beforeAll(async () => {
  setting = await openEngineSetting();
  // What the old rows hold is of no relay here: nothing is sent.
  setting.cable.cut();
});
afterAll(() => setting?.close());

/** Makes the database of an old bundle in the page and leaves it open there, deaf to whoever wants to upgrade it. */
async function writeOldDatabase(tab: Tab, name: string, more: number): Promise<void> {
  await untilReady(tab);
  await tab.run(
    async ([text, stores, called, count]) => {
      const old: Record<string, Record<string, unknown>[]> = JSON.parse(text, (_, value) =>
        typeof value === "object" && value !== null && typeof value.$bytes === "string"
          ? Uint8Array.from(atob(value.$bytes), (byte) => byte.charCodeAt(0))
          : value,
      );
      const dexie = new window.libraries.Dexie(called);
      dexie.version(1).stores(stores);
      await dexie.open();
      for (const [table, all] of Object.entries(old)) await dexie.table(table).bulkPut(all);
      const [like] = old.sessions ?? [];
      const view = { ...(like?.view as object), pending: 0, deleted: false };
      const others = Array.from({ length: count }, (_, n) => ({
        ...like,
        id: `more ${n}`,
        incarnation: "a life",
        view,
      }));
      await dexie.table("sessions").bulkPut(others);
      dexie.on("versionchange", () => false);
    },
    [rows, OLD_STORES, name, more] as const,
  );
}

describe.each(enginesHere())("in $name", (engine) => {
  const place = (actorId: string) => ({ site: setting.site.url, url: setting.cable.url, actorId });
  const nameFor = (actorId: string) =>
    ["holdfast", "", setting.cable.url, actorId].map(encodeURIComponent).join("/");
  let profile: Profile;
  beforeAll(() => {
    profile = new Profile(engine);
  });
  afterAll(() => profile?.dispose());

  const mustBeUpgraded = async (desk: DeskTab, more: number): Promise<void> => {
    expect(await desk.status()).toMatchObject({ pending: 6, rejected: 0 });
    expect(await desk.texts("made offline")).toEqual(["offline 1", "offline 2"]);
    const list = await desk.tab.run(() => window.desk.list());
    expect(list).toHaveLength(3 + more);
    expect(list.map(({ pending }) => pending).reduce((a, b) => a + b)).toBe(5);
  };

  test("[C12] an upgrade of a large database is killed with its browser, again and again: the old data opens, with what waits", async () => {
    const actorId = "killed";
    await writeOldDatabase(await profile.openTab(setting.site.url), nameFor(actorId), MORE_SESSIONS);
    await profile.kill();
    for (const afterMs of KILLED_AFTER_MS) {
      const tab = await profile.openTab(setting.site.url);
      await untilReady(tab);
      await tab.run((given) => void window.desk.open(given).catch(() => undefined), {
        url: setting.cable.url,
        actorId,
      });
      await setTimeout(afterMs);
      await profile.kill();
    }
    await mustBeUpgraded(await DeskTab.open(profile, place(actorId)), MORE_SESSIONS);
    await profile.kill();
  });

  test("[C13] a tab that ignores the upgrade: the new one says blocked within 5 s, and works as soon as the old one closes", async () => {
    const actorId = "blocked";
    const old = await profile.openTab(setting.site.url);
    await writeOldDatabase(old, nameFor(actorId), 0);
    const tab = await profile.openTab(setting.site.url);
    await untilReady(tab);
    const tookMs = await tab.run(
      async (given) => {
        const begun = performance.now();
        await window.desk.open(given);
        return performance.now() - begun;
      },
      { url: setting.cable.url, actorId },
    );
    const storage = () => tab.run(() => window.desk.status().storage);
    expect(await storage()).toBe("blocked");
    expect(tookMs).toBeLessThan(5_000);
    await tab.run(() => {
      void window.desk.say("made offline", ["written while blocked"]);
    });
    await old.close();
    await expect.poll(storage, soon).toMatch(/^(best-effort|persisted)$/);
    await expect
      .poll(() => tab.run(() => window.desk.texts("made offline")), soon)
      .toEqual(["offline 1", "offline 2", "written while blocked"]);
    await tab.close();
  });

  test("[C12] newer code in another tab: this one closes the database, says reload, and refuses to write", async () => {
    const actorId = "outdated";
    const desk = await DeskTab.open(profile, place(actorId));
    await desk.say("s", "before");
    const newer = await profile.openTab(setting.site.url);
    await untilReady(newer);
    await newer.run(
      async ([name, stores]) => {
        const dexie = new window.libraries.Dexie(name);
        dexie.version(3).stores({ ...stores, novelty: "id" });
        await dexie.open();
      },
      [nameFor(actorId), OLD_STORES] as const,
    );
    await expect.poll(async () => (await desk.status()).storage, soon).toBe("upgrade-required");
    expect(await desk.tab.run(() => window.desk.lastError())).toContain("reload");
    const refusal = await desk.tab.run(() =>
      window.desk.say("s", ["after"]).then(
        () => "written",
        (error: Error) => error.message,
      ),
    );
    expect(refusal).toContain("reload");
    await Promise.all([desk.tab.close(), newer.close()]);
  });

  test("[C41] [C42] two people in one browser: nothing of the first is seen by the second, whose logging out ends both of her tabs", async () => {
    const anna = await DeskTab.open(profile, place("anna"));
    await anna.say("diary", "anna's own");
    const [bob, second] = await Promise.all([
      DeskTab.open(profile, place("bob")),
      DeskTab.open(profile, place("bob")),
    ]);
    for (const desk of [bob, second]) {
      expect((await desk.status()).storage).toMatch(/^(best-effort|persisted)$/);
      expect(await desk.texts("diary")).toEqual([]);
      expect(await desk.tab.run(() => window.desk.list())).toEqual([]);
    }
    await second.say("diary", "bob's own");
    await expect.poll(async () => (await bob.status()).pending, soon).toBe(1);
    expect(await bob.tab.run(() => window.desk.wipe(false))).toEqual({ pending: 1 });
    expect(await bob.tab.run(() => window.desk.wipe(true))).toEqual({ pending: 1 });
    const over = { link: "closed", pending: 0, storage: "reset", leader: false };
    expect(await bob.status()).toMatchObject(over);
    await expect.poll(() => second.status(), soon).toMatchObject(over);
    expect(await second.tab.run(() => window.desk.lastError())).toContain("logged out");
    const names = () => anna.tab.run(async () => (await indexedDB.databases()).map(({ name }) => name ?? ""));
    await expect.poll(names, soon).not.toContain(nameFor("bob"));
    expect(await names()).toContain(nameFor("anna"));
    expect(await anna.texts("diary")).toEqual(["anna's own"]);
    await Promise.all([anna, bob, second].map(({ tab }) => tab.close()));
  });
});
