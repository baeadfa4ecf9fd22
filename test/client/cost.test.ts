import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import type { World } from "../sim/world.ts";
import { type Counts, counting } from "./counting-database.ts";
import { begin, openTab, say, type Tab, textsIn, watchFrames } from "./setting.ts";

interface Cost {
  read: number;
  written: number;
  bytes: number;
  frames: number;
}

interface Setting {
  readonly world: World;
  readonly disk: MemoryDisk;
  readonly counts: Counts;
  tab: Tab;
  readonly reopen: () => Promise<void>;
}

/** One device whose session holds so many messages, with all that goes to its disk and over its cable counted. */
async function holding(messages: number, others = 0): Promise<Setting> {
  const { world } = await begin(1);
  const disk = new MemoryDisk();
  const counts: Counts = { read: 0, written: 0 };
  const profile = new TestTabs(world.clock);
  const open = () =>
    openTab(world, { disk, tabs: profile.open(), wrap: (database) => counting(database, counts) });
  const tab = await open();
  await world.clock.advance(100);
  for (let at = 0; at < messages; at += 50)
    await tab.session.append({ messages: Array.from({ length: 50 }, (_, n) => say(`m${at + n}`)) });
  for (let n = 0; n < others; n++) {
    const other = tab.client.session(`other ${n}`);
    await world.during(other.append({ messages: [say("o")], state: { n } as JsonObject }));
    for (let m = 0; m < 20; m++)
      await world.during(other.updateState((draft) => Object.assign(draft, { m })));
    await other.close();
  }
  await world.during(tab.client.flush());
  await world.clock.advance(1_000);
  const setting: Setting = {
    world,
    disk,
    counts,
    tab,
    reopen: async () => {
      await world.during(setting.tab.client.close());
      setting.tab = await open();
    },
  };
  return setting;
}

async function cost({ world, counts, tab }: Setting, work: () => Promise<unknown>): Promise<Cost> {
  const { frames, bytes } = watchFrames(tab.cable);
  Object.assign(counts, { read: 0, written: 0 });
  await world.during(work());
  await world.clock.advance(500);
  const told = frames.filter(({ type }) => type !== "ping" && type !== "pong");
  return { ...counts, bytes: bytes.sent, frames: told.length };
}

/** Equal but for what longer numbers and positions of blocks make. */
function expectEqual(costs: readonly Cost[]): void {
  const [small, large] = costs;
  if (small === undefined || large === undefined) throw new Error("two costs are needed");
  for (const field of ["read", "written", "frames"] as const)
    expect(Math.abs(large[field] - small[field]), field).toBeLessThanOrEqual(3);
  expect(Math.abs(large.bytes - small.bytes)).toBeLessThan(400);
}

const WORKS: Record<string, (setting: Setting) => Promise<unknown>> = {
  append: ({ tab }) => tab.session.append({ messages: [say("new")] }),
  "append with state": ({ tab }) => tab.session.append({ messages: [say("new")], state: { n: 1 } }),
  "a checkpoint with one new message": async ({ tab }) =>
    tab.session.checkpoint({ messages: [...(await tab.session.history()), say("new")] }),
  "a change of state": ({ tab }) => tab.session.updateState((draft) => Object.assign(draft, { x: 1 })),
  "marking as read": ({ tab }) => tab.client.sessions.markRead("talk", 90),
  "a reconnect": async ({ tab, world }) => {
    tab.cable.drop();
    await world.clock.advance(5_000);
  },
};

describe("what things cost", () => {
  for (const [what, work] of Object.entries(WORKS)) {
    test(`[H11] ${what} costs the same at 100 and at 2,000 messages`, async () => {
      const costs: Cost[] = [];
      for (const messages of [100, 2_000]) {
        const setting = await holding(messages);
        await setting.tab.session.load();
        costs.push(await cost(setting, () => work(setting)));
        await setting.world.during(Promise.all([setting.tab.client.close(), setting.world.close()]));
      }
      expectEqual(costs);
    });
  }

  test("[H11] opening a client and showing the end of a session costs the same at 100 and at 2,000 messages, and few rows", async () => {
    const costs: Cost[] = [];
    for (const messages of [100, 2_000]) {
      const setting = await holding(messages);
      setting.counts.read = 0;
      await setting.reopen();
      costs.push(
        await cost(setting, async () => {
          setting.tab.session.messages.subscribe(() => {});
          await setting.world.clock.advance(1_000);
        }),
      );
      expect(setting.tab.session.messages.entries).toHaveLength(50);
      expect(setting.tab.session.messages.hasEarlier).toBe(true);
      await setting.world.during(Promise.all([setting.tab.client.close(), setting.world.close()]));
    }
    expectEqual(costs);
    expect(costs[1]?.read).toBeLessThan(60);
  });

  test("[H11] opening and reconnecting read no state but that of what is open or unsent", async () => {
    const costs: Cost[] = [];
    for (const others of [2, 20]) {
      const setting = await holding(50, others);
      Object.assign(setting.counts, { read: 0 });
      await setting.reopen();
      await setting.world.clock.advance(2_000);
      costs.push({ read: setting.counts.read, written: 0, bytes: 0, frames: 0 });
      await setting.world.during(Promise.all([setting.tab.client.close(), setting.world.close()]));
    }
    const [few, many] = costs;
    // A row or two for each session more, and none of its 21 updates.
    expect((many?.read ?? 0) - (few?.read ?? 0)).toBeLessThan(18 * 8);
  });

  test("[H11, S7, P13] a checkpoint of an unchanged history writes nothing and sends nothing; with one more message it sends that", async () => {
    const setting = await holding(200);
    const { tab, world } = setting;
    const history = await tab.session.history();
    const given = history.map(({ role, content }) => ({ role, content: [...content] }));
    for (let n = 0; n < 20; n++) {
      const same = await cost(setting, () =>
        tab.session.checkpoint({ messages: n % 2 === 0 ? history : given }),
      );
      expect([same.written, same.frames]).toEqual([0, 0]);
    }
    const { frames } = watchFrames(tab.cable);
    await world.during(tab.session.checkpoint({ messages: [...given, { role: "user", content: "more" }] }));
    await world.clock.advance(500);
    const appends = frames.filter(({ type }) => type === "append");
    expect(appends).toHaveLength(1);
    expect(appends[0]?.messages).toHaveLength(1);
    expect(JSON.stringify(appends[0]).length).toBeLessThan(700);
    expect((await textsIn(tab.session)).at(-1)).toBe("more");
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });

  test("[H11] a push of one message reads and writes a few rows, however long the log", async () => {
    const costs: Cost[] = [];
    for (const messages of [100, 2_000]) {
      const setting = await holding(messages);
      const { world } = setting;
      setting.tab.session.messages.subscribe(() => {});
      await world.during(setting.tab.session.load());
      const [a] = world.devices;
      await world.clock.advance(2_000);
      costs.push(await cost(setting, async () => a?.session.append({ messages: [say("pushed")] })));
      expect(setting.tab.session.messages.entries.at(-1)?.message.content).toEqual([
        { type: "text", text: "pushed" },
      ]);
      await world.during(Promise.all([setting.tab.client.close(), world.close()]));
    }
    expectEqual(costs);
  });
});
