import { Dexie } from "dexie";
import { describe, expect, test } from "vitest";
import { openClient } from "../../src/open-client.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { fakeBrowser } from "../support/fake-browser.ts";
import { begin, openTab, replaceRelay, rowsOf, say, textsIn, watchFrames } from "./setting.ts";

const RELAY = "ws://relay";

/** One browser profile in which anybody may sign in. */
async function profile() {
  const { world } = await begin(1);
  const browser = fakeBrowser();
  const tabs = new TestTabs(world.clock);
  let seed = 80_000;
  const signIn = async (actorId: string, token?: string) => {
    const cable = world.network.cable();
    const tab = tabs.open();
    const env = testEnvironment({ clock: world.clock, sockets: cable, tabs: tab, seed: ++seed });
    const { frames } = watchFrames(cable);
    const { indexedDB, IDBKeyRange } = browser;
    const options = { url: RELAY, actorId, ...(token === undefined ? {} : { token }) };
    const open = openClient(options, { env, indexedDB: { indexedDB, IDBKeyRange } });
    return { client: await world.during(open), cable, tab, frames };
  };
  const databases = async () => (await browser.indexedDB.databases()).map(({ name }) => String(name));
  return { world, browser, signIn, databases };
}

describe("another actor in the same browser", () => {
  test("[C41, H8] two tabs: nothing of A's is readable as B, none of A's ops goes out as B, and A's wait for A", async () => {
    const { world, signIn } = await profile();
    const a = await signIn("anna");
    await world.during(a.client.session("shared id").append({ messages: [say("anna's, sent")] }));
    await world.during(a.client.flush());
    a.cable.cut();
    await world.during(a.client.session("shared id").append({ messages: [say("anna's, unsent")] }));
    await world.during(a.client.sessions.rename("shared id", "anna's title"));
    // B signs in while A's tab is still open, and once more after it.
    const b = await signIn("bob");
    await world.clock.advance(2_000);
    await world.during(a.client.close());
    const b2 = await signIn("bob");
    await world.clock.advance(2_000);
    for (const { client } of [b, b2]) {
      expect(client.status).toMatchObject({ pending: 0, rejected: 0 });
      expect((await world.during(client.sessions.list())).entries).toEqual([]);
      expect(await world.during(client.sessions.search("anna"))).toEqual([]);
      expect(await world.during(textsIn(client.session("shared id")))).toEqual([]);
      expect(await (await world.during(client.export())).text()).not.toContain("anna");
    }
    await world.during(b.client.session("shared id").append({ messages: [say("bob's")] }));
    expect(await world.during(b.client.flush())).toEqual({ pending: 0 });
    const told = JSON.stringify([...b.frames, ...b2.frames]);
    expect(told).toContain("bob's");
    expect(told).not.toContain("anna");
    await world.during(Promise.all([b.client.wipe({ force: true }), b2.client.close()]));
    // B's log out deleted B's alone: A comes back to what waited.
    const again = await signIn("anna");
    expect(again.client.status.rejected).toBe(0);
    expect(await world.during(textsIn(again.client.session("shared id")))).toEqual([
      "anna's, sent",
      "anna's, unsent",
    ]);
    expect(await world.during(again.client.flush())).toEqual({ pending: 0 });
    await world.during(Promise.all([again.client.close(), world.close()]));
  });

  test("[C41, P4] a token of another actor: refused, nothing is exchanged, and what waits goes on waiting", async () => {
    const { world, signIn } = await profile();
    await replaceRelay(world, { authenticate: async (token) => ({ actorId: String(token) }) });
    const wrong = await signIn("anna", "bob");
    await world.during(wrong.client.session("s").append({ messages: [say("anna's secret")] }));
    await world.clock.advance(10_000);
    await expect.poll(() => wrong.client.status).toMatchObject({ link: "refused", pending: 1 });
    expect(wrong.frames.filter(({ direction }) => direction === "up").map(({ type }) => type)).toEqual([
      "hello",
    ]);
    expect(JSON.stringify(wrong.frames)).not.toContain("secret");
    await world.during(wrong.client.close());
    const right = await signIn("anna", "anna");
    expect(await world.during(right.client.flush())).toEqual({ pending: 0 });
    await world.during(Promise.all([right.client.close(), world.close()]));
  });
});

describe("logging out", () => {
  test("[C42, H12] every tab tells that it is closed and why, and that nothing is pending any more", async () => {
    const { world, signIn, databases } = await profile();
    const one = await signIn("anna");
    const two = await signIn("anna");
    one.cable.cut();
    two.cable.cut();
    await world.during(one.client.session("s").append({ messages: [say("1"), say("2")] }));
    await world.during(two.client.session("s").append({ messages: [say("3")] }));
    expect(await world.during(two.client.wipe())).toEqual({ pending: 2 });
    expect(two.client.status.link).not.toBe("closed");
    expect(await world.during(two.client.wipe({ force: true }))).toEqual({ pending: 2 });
    await world.clock.advance(1_000);
    const over = { link: "closed", leader: false, pending: 0, rejected: 0, storage: "reset" };
    for (const { client } of [one, two]) expect(client.status).toMatchObject(over);
    expect(one.client.status.lastError).toMatchObject({
      name: "StorageError",
      message: expect.stringContaining("logged out"),
    });
    expect(await databases()).toEqual([]);
    await world.during(world.close());
  });

  for (const how of ["frozen", "deaf"] as const)
    test(`[C42] a tab that is ${how} holds up neither the deletion of the rows nor the answer`, async () => {
      const { world, browser, signIn, databases } = await profile();
      const here = await signIn("anna");
      await world.during(here.client.session("s").append({ messages: [say("1")] }));
      const [name] = await databases();
      const other = how === "frozen" ? await signIn("anna") : undefined;
      other?.tab.freeze();
      // What a frozen tab does to the browser: its connection stays, whoever asks.
      const held = new Dexie(String(name), browser);
      await held.open();
      held.on("versionchange", () => false);
      const before = world.clock.now();
      await world.during(here.client.wipe({ force: true }));
      expect(world.clock.now() - before).toBeLessThan(10_000);
      expect(here.client.status).toMatchObject({ link: "closed", pending: 0 });
      // But for the word that it was wiped, nothing is left.
      for (const table of held.tables) {
        const left = table.name === "meta" ? [{ key: "wiped", value: true }] : [];
        if (table.name !== "holdfast") expect(await table.toArray()).toEqual(left);
      }
      // As soon as it lets go the database itself is deleted.
      held.close();
      other?.tab.thaw();
      await world.clock.advance(2_000);
      await expect.poll(databases).toEqual([]);
      if (other !== undefined)
        expect(other.client.status).toMatchObject({ link: "closed", storage: "reset" });
      await world.during(world.close());
    });

  test("[C42] a tab stuck in a transaction: the wipe says within its limit that it could not", async () => {
    const { world } = await begin(1);
    const disk = new MemoryDisk();
    const { client, session } = await openTab(world, { disk });
    await world.during(session.append({ messages: [say("1")] }));
    const stuck = new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk });
    void stuck.write(["sessions"], () => new Promise(() => undefined)).catch(() => undefined);
    const before = world.clock.now();
    await expect(world.during(client.wipe({ force: true }))).rejects.toMatchObject({ reason: "timeout" });
    expect(world.clock.now() - before).toBeLessThanOrEqual(11_000);
    // When the other lets go, it is done all the same.
    stuck.kill();
    await world.clock.advance(1_000);
    expect(client.status).toMatchObject({ link: "closed", pending: 0, storage: "reset" });
    expect(Object.values(await rowsOf(new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }))).flat()).toEqual(
      [],
    );
    await world.during(world.close());
  });
});

describe("deleted elsewhere, written in a tab that died", () => {
  test("[C43] a session deleted on one device does not come back from one that was offline for months; what was written there is in rejected", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("kept by nobody")], state: { n: 1 } }));
    await world.during(a.client.flush());
    await world.during(textsIn(b.session));
    b.cable.cut();
    await world.during(b.session.append({ messages: [say("late 1")] }));
    await world.during(b.session.append({ messages: [say("late 2")], state: { n: 2 } }));
    await world.during(b.client.sessions.rename(b.session.id, "late title"));
    await world.during(a.client.sessions.delete(a.session.id));
    expect(await world.during(a.client.flush())).toEqual({ pending: 0 });
    for (let months = 0; months < 4; months += 1) world.clock.jump(30 * 86_400_000);
    b.cable.heal();
    b.client.reconnect();
    await world.settle();
    for (const { client, session } of [a, b]) {
      expect((await client.sessions.list()).entries).toEqual([]);
      expect(await textsIn(session)).toEqual([]);
      expect(client.status).toMatchObject({ pending: 0 });
    }
    const rejected = await b.client.rejected.list();
    expect(rejected.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual([
      "append deleted",
      "append deleted",
      "edit deleted",
    ]);
    expect(rejected.flatMap(({ messages }) => messages)).toHaveLength(2);
    // A late op of a device that has not heard of it gets the same answer for ever.
    for (const { opId } of rejected) await world.during(b.client.rejected.discard(opId));
    expect((await b.client.sessions.list()).entries).toEqual([]);
    await world.during(world.close());
  });

  test("[C39] what a following tab wrote is in the outbox when the tab dies at once, and the leader sends it", async () => {
    const { world } = await begin(1);
    const disk = new MemoryDisk();
    const tabs = new TestTabs(world.clock);
    const leader = await openTab(world, { disk, tabs: tabs.open() });
    await world.clock.advance(500);
    const dying = tabs.open();
    const follower = await openTab(world, { disk, tabs: dying });
    expect([leader.client.status.leader, follower.client.status.leader]).toEqual([true, false]);
    leader.cable.cut();
    const messages = [say("1"), say("2"), say("3")];
    for (const message of messages) await world.during(follower.session.append({ messages: [message] }));
    follower.database.kill();
    dying.kill();
    const { outbox } = await rowsOf(leader.database);
    expect(
      outbox
        ?.flatMap((op) => ("messages" in op ? (op.messages as { id: string }[]) : []))
        .map(({ id }) => id),
    ).toEqual(messages.map(({ id }) => id));
    leader.cable.heal();
    leader.client.reconnect();
    expect(await world.during(leader.client.flush())).toEqual({ pending: 0 });
    expect((await world.during(leader.session.history())).map(({ id }) => id)).toEqual(
      messages.map(({ id }) => id),
    );
    await world.during(Promise.all([leader.client.close(), world.close()]));
  });
});
