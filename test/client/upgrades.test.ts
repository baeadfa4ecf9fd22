import { Dexie } from "dexie";
import { describe, expect, onTestFinished, test } from "vitest";
import { openClient } from "../../src/open-client.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { fakeBrowser } from "../support/fake-browser.ts";
import { OLD_STORES, openOldDatabase } from "../support/old-database.ts";
import { begin, say, textsIn } from "./setting.ts";

const URL = "ws://relay";
const NAME = ["holdfast", "", URL, "anna"].map(encodeURIComponent).join("/");

/** A browser profile whose IndexedDB an old bundle has filled, and a relay in reach once the cable heals. */
async function setting() {
  const { world } = await begin(1);
  const browser = fakeBrowser();
  const profile = new TestTabs(world.clock);
  let seed = 90_000;
  const indexedDB = { indexedDB: browser.indexedDB, IDBKeyRange: browser.IDBKeyRange };
  const tab = (actorId = "anna") => {
    const cable = world.network.cable();
    const env = testEnvironment({ clock: world.clock, sockets: cable, tabs: profile.open(), seed: ++seed });
    return { env, cable, open: () => openClient({ url: URL, actorId }, { env, indexedDB }) };
  };
  onTestFinished(() => world.during(world.close()));
  return { world, browser, tab, indexedDB };
}

/** Lets IndexedDB, which takes real turns, and the clock go on until it is so. */
async function until(
  world: { clock: { advance(ms: number): Promise<void> } },
  fits: () => boolean,
): Promise<void> {
  for (let turns = 0; !fits(); turns += 1) {
    if (turns > 5_000) throw new Error("It never became so");
    await new Promise((resolve) => setImmediate(resolve));
    await world.clock.advance(1);
  }
}

describe("a client on the database of an older bundle", () => {
  test("[C12] the old rows open, what waited is sent, and nothing is lost or doubled", async () => {
    const { world, browser, tab } = await setting();
    (await openOldDatabase(NAME, browser)).close();
    const { open, cable } = tab();
    cable.cut();
    const client = await world.during(open());
    expect(client.status).toMatchObject({ storage: "best-effort", pending: 6 });
    expect(await world.during(textsIn(client.session("made offline")))).toEqual(["offline 1", "offline 2"]);
    const list = (await world.during(client.sessions.list())).entries.map(({ id }) => id);
    expect(list).not.toContain("to be deleted");
    expect(list).toHaveLength(3);
    cable.heal();
    client.reconnect();
    expect(await world.during(client.flush())).toEqual({ pending: 0 });
    expect(await world.during(textsIn(client.session("made offline")))).toEqual(["offline 1", "offline 2"]);
    await world.during(client.close());
  });

  test("[C13] a tab that ignores the upgrade: blocked within 5 s, nothing told that is not known, and all works as soon as it closes", async () => {
    const { world, browser, tab } = await setting();
    const old = await openOldDatabase(NAME, browser);
    old.on("versionchange", () => false);
    const { open } = tab();
    const begun = world.clock.now();
    const client = await world.during(open());
    expect(world.clock.now() - begun).toBeLessThanOrEqual(5_000);
    expect(client.status).toMatchObject({ storage: "blocked", link: expect.not.stringMatching("online") });
    await expect(client.wipe()).rejects.toMatchObject({ reason: "blocked" });
    await expect(world.during(client.flush({ timeoutMs: 1_000 }))).rejects.toMatchObject({
      reason: "blocked",
    });
    let written = false;
    const session = client.session("made offline");
    const writing = session.append({ messages: [say("written while blocked")] }).then(() => {
      written = true;
    });
    await world.clock.advance(20_000);
    expect(written).toBe(false);
    old.close();
    await until(world, () => written);
    await writing;
    await until(world, () => client.status.storage === "best-effort");
    expect(await world.during(client.flush())).toEqual({ pending: 0 });
    expect(await world.during(textsIn(session))).toEqual(["offline 1", "offline 2", "written while blocked"]);
    await world.during(client.close());
  });

  test("[C13] a client that is closed while it is blocked lets go at once", async () => {
    const { world, browser, tab } = await setting();
    const old = await openOldDatabase(NAME, browser);
    old.on("versionchange", () => false);
    const client = await world.during(tab().open());
    expect(client.status.storage).toBe("blocked");
    const before = world.clock.now();
    await world.during(client.close());
    expect(world.clock.now() - before).toBeLessThan(1_000);
    old.close();
  });

  test("[C12] [C13] newer code takes the database over: the open client closes it, says reload, refuses to write, and sends no more", async () => {
    const { world, browser, tab } = await setting();
    const { open, cable } = tab();
    const client = await world.during(open());
    await until(world, () => client.status.link === "online");
    const session = client.session("here");
    await world.during(session.append({ messages: [say("before")] }));
    await world.during(client.flush());
    let sent = 0;
    // What a bundle of the next schema does.
    const newer = new Dexie(NAME, browser);
    newer.version(3).stores({ ...OLD_STORES, novelty: "id" });
    await newer.open();
    await until(world, () => client.status.storage === "upgrade-required");
    cable.watch(({ direction }) => {
      if (direction === "up") sent += 1;
    });
    expect(client.status.lastError).toMatchObject({
      name: "StorageError",
      reason: "upgrade-required",
      message: expect.stringContaining("reload"),
    });
    await expect(world.during(session.append({ messages: [say("after")] }))).rejects.toMatchObject({
      reason: "upgrade-required",
    });
    await world.clock.advance(60_000);
    expect(client.status).toMatchObject({ storage: "upgrade-required", link: "closed", leader: false });
    expect(sent).toBe(0);
    expect(await newer.table("outbox").count()).toBe(0);
    await world.during(client.close());
    // And so does one that is opened by old code after the upgrade.
    await expect(world.during(tab().open())).rejects.toMatchObject({ reason: "upgrade-required" });
    newer.close();
  });
});
