import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/client.ts";
import { openClient } from "../../src/open-client.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { type TestTab, TestTabs } from "../../src/testing/tabs.ts";
import { ACTOR, SESSION } from "../sim/device.ts";
import { fakeBrowser } from "../support/fake-browser.ts";
import { begin, say, textsIn, watchFrames } from "./setting.ts";

const URL = "ws://relay";
const NAME = ["holdfast", "", URL, ACTOR].map(encodeURIComponent).join("/");

/** A relay with another device at it, and one browser profile on an IndexedDB of its own. */
async function setting() {
  const { world, a } = await begin(1);
  const browser = fakeBrowser();
  const profile = new TestTabs(world.clock);
  const cable = world.network.cable();
  const clients: Client[] = [];
  let seed = 70_000;
  const open = async () => {
    const tab: TestTab = profile.open();
    const env = testEnvironment({ clock: world.clock, sockets: cable, tabs: tab, seed: ++seed });
    const { indexedDB, IDBKeyRange } = browser;
    const opening = openClient({ url: URL, actorId: ACTOR }, { env, indexedDB: { indexedDB, IDBKeyRange } });
    const client = await world.during(opening);
    clients.push(client);
    const statuses: string[] = [];
    client.subscribe(() => statuses.push(client.status.storage));
    return { client, session: client.session(SESSION), statuses, tab };
  };
  /** As another page does that knows nothing of us, or a user who clears the site's data. */
  const deleteIt = () =>
    world.during(
      new Promise<void>((resolve, reject) => {
        const request = browser.indexedDB.deleteDatabase(NAME);
        request.onsuccess = () => resolve();
        request.onerror = () => reject(request.error);
      }),
    );
  /** Lets IndexedDB, which takes real turns, and the clock go on until it is so. */
  const until = async (what: string, fits: () => boolean) => {
    for (let turns = 0; !fits(); turns += 1) {
      if (turns > 3_000) throw new Error(`It never became so: ${what}`);
      await new Promise((resolve) => setImmediate(resolve));
      await world.clock.advance(10);
    }
  };
  const databases = async () => (await browser.indexedDB.databases()).map(({ name }) => name);
  onTestFinished(async () => {
    for (const client of clients) await world.during(client.close());
    await world.during(world.close());
  });
  return { world, other: a, browser, cable, open, deleteIt, until, databases };
}

describe("a database that is deleted under the running client", () => {
  test("[C7, H1, H12] the status says so, the log comes back from the relay, unsent ops go out with the ids they had", async () => {
    const { world, other, cable, open, deleteIt, until } = await setting();
    const { client, session, statuses } = await open();
    await world.during(
      session.append({ messages: [say("1"), say("2")], state: { n: 1 }, metadata: { title: "Kept" } }),
    );
    await world.during(client.flush());
    const side = client.session("side");
    await world.during(side.append({ messages: [say("s")] }, { until: "confirmed" }));
    await world.clock.advance(1_000);
    session.messages.subscribe(() => {});
    expect(session.messages.entries).toBeDefined();
    await world.clock.advance(100);
    cable.cut();
    await world.clock.advance(100);
    await world.during(session.append({ messages: [say("unsent 1")] }));
    await world.during(session.append({ messages: [say("unsent 2")], state: { n: 2 } }));
    await world.during(session.updateState((draft) => Object.assign(draft, { edited: true })));
    await world.during(client.session("offline").append({ messages: [say("new here")] }));
    await until("counted", () => client.status.pending === 4);
    const ids = (await world.during(session.history())).map(({ id }) => id);
    await deleteIt();
    await until("reset", () => client.status.storage === "reset");
    expect(client.status.lastError).toMatchObject({ name: "StorageError", reason: "reset" });
    await until("put back", () => client.status.pending === 4);
    // A write of now waits for the database, and goes behind what waits.
    await world.during(session.append({ messages: [say("after")] }));
    expect(client.status).toMatchObject({ pending: 5, storage: "reset" });
    const { frames } = watchFrames(cable);
    cable.heal();
    client.reconnect();
    await until("whole", () => client.status.storage === "best-effort");
    expect(await world.during(client.flush())).toEqual({ pending: 0 });
    await world.clock.advance(1_000);
    expect(client.status).toMatchObject({ rejected: 0, lastError: undefined, link: "online", leader: true });
    expect(statuses).toContain("reset");
    const now = await world.during(session.history());
    expect(now.slice(0, 4).map(({ id }) => id)).toEqual(ids);
    expect(await world.during(textsIn(session))).toEqual(["1", "2", "unsent 1", "unsent 2", "after"]);
    // The session object, its window and its document were not opened again.
    expect(session.messages.entries.map(({ delivery }) => delivery)).toEqual(Array(5).fill("confirmed"));
    expect(await world.during(session.state())).toEqual({ n: 2, edited: true });
    expect(await world.during(session.metadata())).toEqual({ title: "Kept" });
    expect(await world.during(textsIn(side))).toEqual(["s"]);
    expect((await world.during(client.sessions.list())).entries.map(({ id }) => id).sort()).toEqual(
      ["offline", "side", SESSION].sort(),
    );
    const deletes = frames.filter(({ direction, type }) => direction === "up" && type === "delete");
    expect(deletes).toEqual([]);
    // The other device saw all of it, once.
    expect(await world.during(textsIn(other.session))).toEqual(["1", "2", "unsent 1", "unsent 2", "after"]);
    expect(await world.during(other.session.state())).toEqual({ n: 2, edited: true });
    void other.session.append({ messages: [say("from there")] });
    await until("live", () => session.messages.entries.length === 6);
    // And it is all on disk again.
    await world.during(client.close());
    cable.cut();
    const next = await open();
    expect(next.client.status.storage).toBe("best-effort");
    expect(await world.during(textsIn(next.session))).toHaveLength(6);
  });

  test("[C7, H12] online, what is shown stays shown: no window is ever seen without what the relay has", async () => {
    const { world, open, deleteIt, until } = await setting();
    const { client, session } = await open();
    for (let n = 0; n < 5; n++) await world.during(session.append({ messages: [say(`${n}`)] }));
    await world.during(client.flush());
    session.messages.subscribe(() => {});
    await until("shown", () => session.messages.entries.length === 5);
    const fewest: number[] = [];
    session.messages.subscribe(() => fewest.push(session.messages.entries.length));
    await deleteIt();
    await until("reset", () => client.status.storage === "reset");
    await until("whole", () => client.status.storage === "best-effort");
    await world.during(session.append({ messages: [say("more")] }, { until: "confirmed" }));
    expect(Math.min(...fewest)).toBeGreaterThanOrEqual(5);
    expect(await world.during(textsIn(session))).toEqual(["0", "1", "2", "3", "4", "more"]);
  });

  test("[C7, C37] several tabs: all recover, one leads, what each had unsent is there once", async () => {
    const { world, other, cable, open, deleteIt, until } = await setting();
    const tabs = [await open(), await open(), await open()];
    const [one] = tabs;
    if (one === undefined) throw new Error("three tabs");
    await world.during(one.session.append({ messages: [say("first")] }, { until: "confirmed" }));
    cable.cut();
    await world.clock.advance(100);
    for (const [n, { session }] of tabs.entries())
      for (const k of [0, 1]) await world.during(session.append({ messages: [say(`${n}.${k}`)] }));
    await deleteIt();
    for (const { client } of tabs) await until("reset", () => client.status.storage === "reset");
    cable.heal();
    await world.clock.advance(1_000);
    one.client.reconnect();
    for (const { client } of tabs) {
      await until("whole", () => client.status.storage === "best-effort");
      await until("sent", () => client.status.pending === 0);
    }
    await world.clock.advance(5_000);
    const texts = ["first", "0.0", "0.1", "1.0", "1.1", "2.0", "2.1"];
    for (const { session } of [...tabs, other])
      expect((await world.during(textsIn(session))).toSorted()).toEqual(texts.toSorted());
    for (const own of ["0", "1", "2"]) {
      const mine = (await world.during(textsIn(other.session))).filter((text) => text.startsWith(`${own}.`));
      expect(mine).toEqual([`${own}.0`, `${own}.1`]);
    }
    expect(tabs.filter(({ client }) => client.status.leader)).toHaveLength(1);
    for (const { client } of tabs) expect(client.status).toMatchObject({ link: "online", rejected: 0 });
  });

  test("[C7, C42] a logout stays a logout: nothing is begun anew after it, in no tab, also in one that slept", async () => {
    const { world, cable, open, databases } = await setting();
    const [one, two, sleeper] = [await open(), await open(), await open()];
    await world.during(one.session.append({ messages: [say("first")] }, { until: "confirmed" }));
    cable.cut();
    await world.during(two.session.append({ messages: [say("unsent")] }));
    // It hears no tab; IndexedDB tells it all the same.
    sleeper.tab.freeze();
    expect(await world.during(one.client.wipe({ force: true }))).toEqual({ pending: 1 });
    await world.clock.advance(60_000);
    expect(await databases()).toEqual([]);
    sleeper.tab.thaw();
    await world.clock.advance(60_000);
    expect(await databases()).toEqual([]);
    for (const { client } of [one, two, sleeper])
      expect(client.status).toMatchObject({ link: "closed", storage: "reset" });
    await expect(sleeper.session.append({ messages: [say("late")] })).rejects.toMatchObject({
      code: "closed",
    });
  });
});
