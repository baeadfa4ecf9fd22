import { describe, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import type { TestPage } from "../../src/testing/page.ts";
import { type TestTab, TestTabs } from "../../src/testing/tabs.ts";
import type { Device } from "../sim/device.ts";
import type { World } from "../sim/world.ts";
import { type Counts, counting } from "./counting-database.ts";
import { begin, openTab, say, type Tab, textsIn } from "./setting.ts";

interface Hearing extends Tab {
  readonly tab: TestTab;
  /** Commits are not told to this tab: the message was never sent, or the page slept. */
  deaf: boolean;
}

interface Setting {
  readonly world: World;
  /** Another device. */
  readonly a: Device;
  readonly lead: Hearing;
  readonly follower: Hearing;
  readonly counts: Counts;
}

async function two(): Promise<Setting> {
  const { world, a } = await begin(1);
  const disk = new MemoryDisk();
  const profile = new TestTabs(world.clock);
  const counts: Counts = { read: 0, written: 0 };
  const open = async (): Promise<Hearing> => {
    const tab = profile.open();
    const hearing = { tab, deaf: false };
    const opened = await openTab(world, {
      disk,
      tabs: tab,
      wrap: (database) => ({
        ...counting(database, counts),
        watch: (listener) => database.watch((change) => hearing.deaf || listener(change)),
      }),
    });
    return Object.assign(hearing, opened);
  };
  const lead = await open();
  const follower = await open();
  await world.clock.advance(1_000);
  return { world, a, lead, follower, counts };
}

/** What the tab does now no other hears of: then it is gone. */
async function dies(
  { world }: Setting,
  [dying, other]: readonly [Hearing, Hearing],
  work: () => Promise<unknown>,
): Promise<void> {
  other.deaf = true;
  await world.during(work());
  dying.tab.kill();
  dying.cable.cut();
  dying.database.kill();
  void dying.client.close();
  other.deaf = false;
}

const shown = ({ session }: Tab): string[] => session.messages.entries.map(({ message }) => textOf(message));

describe("what another tab committed and nobody told of", () => {
  test("[C39, H2] an op of a tab that died after its commit and before its message goes out", async () => {
    const setting = await two();
    const { world, a, lead, follower } = setting;
    await dies(setting, [follower, lead], () => follower.session.append({ messages: [say("committed")] }));
    await world.clock.advance(10_000);
    expect(await world.during(textsIn(a.session))).toEqual(["committed"]);
    expect(await world.during(textsIn(lead.session))).toEqual(["committed"]);
    expect(lead.client.status).toMatchObject({ pending: 0, rejected: 0, lastError: undefined });
  });

  test("[C39, C4] so does its change of state", async () => {
    const setting = await two();
    const { world, a, lead, follower } = setting;
    await world.during(lead.session.append({ messages: [say("x")] }));
    await world.during(lead.client.flush());
    await dies(setting, [follower, lead], () =>
      follower.session.updateState((draft) => Object.assign(draft, { n: 1 })),
    );
    await world.clock.advance(10_000);
    expect(await world.during(a.session.state())).toEqual({ n: 1 });
    expect(lead.client.status.pending).toBe(0);
  });

  test("[C39, H12] offline it counts and is shown, and an unforced logout deletes nothing; also where nobody sees the leader", async () => {
    const setting = await two();
    const { world, lead, follower } = setting;
    void shown(lead);
    (lead.env.page as TestPage).signal("hidden");
    lead.cable.cut();
    await world.clock.advance(1_000);
    await dies(setting, [follower, lead], () => follower.session.append({ messages: [say("committed")] }));
    await world.clock.advance(10_000);
    expect(lead.client.status).toMatchObject({ leader: true, pending: 1 });
    expect(shown(lead)).toEqual(["committed"]);
    expect(await world.during(lead.client.wipe())).toEqual({ pending: 1 });
  });

  test("[C39, H12] what the leader sent and stored before it died, unheard, is told by the next one", async () => {
    const setting = await two();
    const { world, a, lead, follower } = setting;
    void shown(follower);
    lead.cable.delayMs = 500;
    await world.during(follower.session.append({ messages: [say("sent")] }));
    expect(follower.client.status.pending).toBe(1);
    await dies(setting, [lead, follower], async () => {
      await world.during(a.session.append({ messages: [say("news")] }));
      await world.clock.advance(5_000);
    });
    follower.cable.cut();
    await world.clock.advance(20_000);
    expect(follower.client.status).toMatchObject({ leader: true, pending: 0 });
    expect(shown(follower)).toHaveLength(2);
    expect(new Set(shown(follower))).toEqual(new Set(["sent", "news"]));
  });

  for (const signal of ["pageshow", "resume", "visible"] as const)
    test(`[C40, H12] a page that heard nothing while it was away looks again at ${signal}: pending and what is shown are true`, async () => {
      const { world, lead, follower } = await two();
      void shown(follower);
      await world.during(lead.session.append({ messages: [say("before")] }));
      await world.during(lead.client.flush());
      await world.clock.advance(1_000);
      const page = follower.env.page as TestPage;
      page.signal("hidden");
      follower.deaf = true;
      await world.during(lead.session.append({ messages: [say("stored")] }));
      await world.during(lead.client.flush());
      lead.cable.cut();
      await world.during(lead.client.session("other").append({ messages: [say("unsent")] }));
      await world.clock.advance(20_000);
      expect(follower.client.status.pending).toBe(0);
      follower.deaf = false;
      page.signal(signal);
      await world.clock.advance(100);
      expect(follower.client.status.pending).toBe(1);
      expect(shown(follower)).toEqual(["before", "stored"]);
      expect(await world.during(follower.client.wipe())).toEqual({ pending: 1 });
    });

  test("[H11] looking costs a row a session that has something unsent, and nothing where nothing is", async () => {
    const { world, lead, counts } = await two();
    for (let n = 0; n < 20; n++) await world.during(lead.session.append({ messages: [say(`m${n}`)] }));
    await world.during(lead.client.flush());
    await world.clock.advance(10_000);
    counts.read = 0;
    await world.clock.advance(60_000);
    expect(counts.read).toBe(0);
    lead.cable.cut();
    for (let n = 0; n < 50; n++) await world.during(lead.session.append({ messages: [say(`u${n}`)] }));
    await world.clock.advance(10_000);
    counts.read = 0;
    await world.clock.advance(60_000);
    // Two tabs look twelve times each.
    expect(counts.read).toBeLessThanOrEqual(24);
  });
});
