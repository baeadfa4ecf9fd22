import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { Client } from "../../src/client.ts";
import { StorageError } from "../../src/model/errors.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import type { StorageNews } from "../../src/sync/status.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { ACTOR } from "../sim/device.ts";
import { World } from "../sim/world.ts";
import { Profile, type ProfileTab, shared } from "./profile.ts";
import { replaceRelay, say, textsIn, watchFrames } from "./setting.ts";

async function profileOf(count: number): Promise<{ world: World; profile: Profile; tabs: ProfileTab[] }> {
  const world = await World.begin(1, memoryStorage(), 0);
  const profile = new Profile(world, { locks: true });
  const tabs: ProfileTab[] = [];
  for (let n = 0; n < count; n++) tabs.push(await world.during(profile.open()));
  await world.clock.advance(1_000);
  return { world, profile, tabs };
}

async function closeAll(world: World, profile: Profile): Promise<void> {
  const open = profile.tabs.filter(({ condition }) => condition !== "gone");
  await world.during(Promise.all(open.map(({ client }) => client.close())));
  await world.close();
}

describe("who leads, as the client tells it", () => {
  test("[C17, C38, P14] the same op sent by the leader that was left behind and by the next one has one effect", async () => {
    const { world, profile, tabs } = await profileOf(2);
    const [one, two] = tabs as [ProfileTab, ProfileTab];
    const sentByOne = watchFrames(one.cable).frames;
    const sentByTwo = watchFrames(two.cable).frames;
    // On its way for half a minute: long enough for another tab to take over and send the same.
    one.cable.delayMs = 30_000;
    one.env.page.signal("hidden");
    one.tab.freeze();
    await two.session.append({ messages: [say("once")] });
    await world.clock.advance(20_000);
    expect(two.client.status).toMatchObject({ leader: true, link: "online", pending: 0 });
    await world.clock.advance(60_000);
    one.tab.thaw();
    one.env.page.signal("visible");
    await world.clock.advance(60_000);
    const ops = (frames: typeof sentByOne) =>
      frames.filter(({ type, direction }) => type === "append" && direction === "up").map(({ opId }) => opId);
    expect(ops(sentByOne)).toHaveLength(1);
    expect(ops(sentByTwo)).toEqual(ops(sentByOne));
    expect((await world.generations()).at(-1)?.messages.map(({ text }) => text)).toEqual(["once"]);
    for (const { client, session } of tabs) {
      expect(await world.during(textsIn(session))).toEqual(["once"]);
      expect(client.status).toMatchObject({ pending: 0, rejected: 0, link: "online" });
    }
    await closeAll(world, profile);
  });

  test("[C38, H12] a leader that was left behind writes and sends nothing more, closes its socket, and calls that no error", async () => {
    const { world, profile, tabs } = await profileOf(3);
    const one = tabs[0] as ProfileTab;
    one.tab.freeze();
    await world.clock.advance(20_000);
    expect(profile.epoch).toBe(2);
    expect(one.client.status.leader).toBe(true);
    const before = watchFrames(one.cable).frames;
    // The first it does as leader is fenced off: it hears of the write by the database.
    await world.during(tabs[1]?.session.append({ messages: [say("later")] }));
    await world.clock.advance(1_000);
    expect(before.filter(({ direction, type }) => direction === "up" && type === "append")).toEqual([]);
    expect(one.cable.open).toBe(0);
    expect(one.client.status).toMatchObject({ leader: false, lastError: undefined });
    expect(one.env.reporter.reports.filter(({ level }) => level === "error")).toEqual([]);
    one.tab.thaw();
    await world.clock.advance(1_000);
    expect(new Set(tabs.map((tab) => JSON.stringify(shared(tab)))).size).toBe(1);
    await closeAll(world, profile);
  });

  test("[C37, H12] followers stop saying online when the leader falls silent, and say what a later one says, not the earlier", async () => {
    const { world, profile, tabs } = await profileOf(3);
    const [one, two, three] = tabs as [ProfileTab, ProfileTab, ProfileTab];
    for (const { cable } of [two, three]) cable.cut();
    one.tab.freeze();
    await world.clock.advance(10_000);
    expect(profile.epoch).toBe(2);
    const links = new Set<string>();
    for (const { client } of [two, three]) client.subscribe(() => links.add(client.status.link));
    // The one left behind connects again, tells that it is online, and only then finds out.
    const before = one.cable.connects;
    one.cable.drop();
    await world.clock.advance(5_000);
    expect(one.cable.connects).toBe(before + 1);
    expect([one.client.status.leader, one.cable.open]).toEqual([false, 0]);
    expect(shared(three)).toEqual(shared(two));
    expect(links.size).toBeGreaterThan(0);
    expect([...links]).not.toContain("online");
    await closeAll(world, profile);
  });

  test("[C37, H12] all tabs tell the same error, of the same class and code", async () => {
    const { world, profile, tabs } = await profileOf(3);
    await world.during(replaceRelay(world, { authenticate: () => Promise.reject(new Error("no")) }));
    await world.clock.advance(5_000);
    const [first, ...others] = tabs.map(({ client }) => client.status.lastError);
    expect(first).toBeDefined();
    for (const other of others) {
      expect(other?.constructor).toBe(first?.constructor);
      expect([other?.code, other?.message]).toEqual([first?.code, first?.message]);
    }
    // Also to one that comes later.
    const late = await world.during(profile.open());
    await world.clock.advance(1_000);
    expect(shared(late)).toEqual(shared(tabs[0] as ProfileTab));
    await closeAll(world, profile);
  });

  test("[C32] a hundred times off and on, to sleep and awake, in three tabs: at most one socket, and one in the end", async () => {
    const { world, profile, tabs } = await profileOf(3);
    let most = 0;
    for (let flip = 0; flip < 100; flip++) {
      const tab = tabs[flip % 3] as ProfileTab;
      const [off, on] = (
        [
          ["offline", "online"],
          ["hidden", "visible"],
          ["freeze", "resume"],
          ["pagehide", "pageshow"],
        ] as const
      )[flip % 4] as [
        "offline" | "hidden" | "freeze" | "pagehide",
        "online" | "visible" | "resume" | "pageshow",
      ];
      if (flip % 5 === 0) tab.cable.delayMs = flip;
      tab.env.page.signal(off);
      most = Math.max(most, profile.openSockets);
      await world.clock.advance((flip % 7) * 10);
      most = Math.max(most, profile.openSockets);
      tab.env.page.signal(on);
      if (flip % 10 === 0) tab.cable.drop();
      await world.clock.advance(flip % 3);
      most = Math.max(most, profile.openSockets);
    }
    expect(most).toBe(1);
    await world.clock.advance(60_000);
    expect(profile.openSockets).toBe(1);
    for (const { client } of tabs) expect(client.status.link).toBe("online");
    expect(profile.epoch).toBeGreaterThan(10);
    await closeAll(world, profile);
  });

  for (const [sleeps, wakes] of [
    ["freeze", "resume"],
    ["pagehide", "pageshow"],
  ] as const) {
    test(`[C38, C39] ${sleeps} closes the socket and lets the lead go at once; ${wakes} brings the tab back to what was written meanwhile`, async () => {
      const { world, profile, tabs } = await profileOf(2);
      const [one, two] = tabs as [ProfileTab, ProfileTab];
      one.env.page.signal(sleeps);
      // Nothing of a page that sleeps runs later.
      expect(one.cable.open).toBe(0);
      expect(one.client.status.leader).toBe(false);
      one.tab.freeze();
      await world.during(two.session.append({ messages: [say("while it slept")] }, { until: "confirmed" }));
      expect(two.client.status).toMatchObject({ leader: true, link: "online" });
      one.tab.thaw();
      one.env.page.signal(wakes);
      await world.clock.advance(1_000);
      expect(shared(one)).toEqual(shared(two));
      expect(one.client.status).toMatchObject({ leader: false, link: "online" });
      expect(await world.during(textsIn(one.session))).toEqual(["while it slept"]);
      await world.during(one.session.append({ messages: [say("back")] }, { until: "confirmed" }));
      expect((await world.generations()).at(-1)?.messages).toHaveLength(2);
      await closeAll(world, profile);
    });
  }

  test("[C37, C38] without Web Locks the second tab follows, works, and leads when the first is gone", async () => {
    const world = await World.begin(1, memoryStorage(), 0);
    const profile = new Profile(world, { locks: false });
    const one = await world.during(profile.open());
    const two = await world.during(profile.open());
    await world.clock.advance(20_000);
    expect([one.client.status.leader, two.client.status.leader]).toEqual([true, false]);
    expect(two.cable.connects).toBe(0);
    await world.during(two.session.append({ messages: [say("from the second")] }, { until: "confirmed" }));
    expect(shared(two)).toEqual(shared(one));
    profile.kill(one);
    await world.during(two.session.append({ messages: [say("alone")] }));
    await world.clock.advance(15_000);
    expect(two.client.status).toMatchObject({ leader: true, link: "online", pending: 0 });
    expect((await world.generations()).at(-1)?.messages).toHaveLength(2);
    await closeAll(world, profile);
  });

  test("[C12, C38, H12] a tab that can only be loaded again lets the lead go, and nothing that others tell changes what it says", async () => {
    const world = await World.begin(1, memoryStorage(), 0);
    const disk = new MemoryDisk();
    const tabs = new TestTabs(world.clock);
    let tell: (news: StorageNews) => void = () => {};
    const open = async (): Promise<Client> => {
      const client = new Client({
        url: "ws://relay",
        actorId: ACTOR,
        name: "holdfast",
        env: testEnvironment({ clock: world.clock, sockets: world.network.cable(), tabs: tabs.open() }),
        db: new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }),
        storage: "best-effort",
        watchStorage: (listener) => {
          tell = listener;
        },
      });
      await client.begin();
      await world.clock.advance(1_000);
      return client;
    };
    const old = await open();
    const tellOld = tell;
    const other = await open();
    expect([old.status.leader, other.status.leader]).toEqual([true, false]);
    const lastError = new StorageError("Please reload", { reason: "upgrade-required" });
    tellOld({ storage: "upgrade-required", lastError, link: "closed" });
    const last = { storage: "upgrade-required", lastError, link: "closed", leader: false };
    expect(old.status).toMatchObject(last);
    await world.clock.advance(1_000);
    expect(other.status).toMatchObject({ leader: true, link: "online" });
    world.network.dropAll();
    await world.clock.advance(60_000);
    expect(old.status).toMatchObject(last);
    await world.during(Promise.all([old.close(), other.close()]));
    await world.close();
  });
});
