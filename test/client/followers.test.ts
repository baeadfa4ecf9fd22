import { describe, expect, test } from "vitest";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import type { TestPage } from "../../src/testing/page.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import type { Device } from "../sim/device.ts";
import type { World } from "../sim/world.ts";
import { begin, openTab, rowsOf, say, type Tab, textsIn } from "./setting.ts";

interface Two {
  readonly world: World;
  /** Another device. */
  readonly a: Device;
  readonly lead: Tab;
  readonly follower: Tab;
}

/** Two tabs of a device that is new, beside one whose session holds three messages. */
async function two(leadDelayMs: number): Promise<Two> {
  const { world, a } = await begin(1);
  for (const text of ["1", "2", "3"]) await world.during(a.session.append({ messages: [say(text)] }));
  await world.during(a.client.flush());
  const disk = new MemoryDisk();
  const tabs = new TestTabs(world.clock);
  const lead = await openTab(world, { disk, tabs: tabs.open() });
  lead.cable.delayMs = leadDelayMs;
  const follower = await openTab(world, { disk, tabs: tabs.open() });
  return { world, a, lead, follower };
}

/** The page sleeps and wakes: it leads no longer. */
async function nap(world: World, { env }: Tab): Promise<void> {
  const page = env.page as TestPage;
  page.signal("freeze");
  await world.clock.advance(2_000);
  page.signal("resume");
  await world.clock.advance(1_000);
}

function settled(promise: Promise<unknown>): () => boolean {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  return () => done;
}

describe("tabs that do not hold the connection", () => {
  test("[C10, H3] a follower on a new device tells nothing as empty that was never read, and replaces nothing unseen", async () => {
    const { world, a, follower } = await two(1_500);
    const seen = await world.during(follower.session.history());
    await world.during(follower.session.checkpoint({ messages: [...seen, say("new")] }));
    await world.clock.advance(60_000);
    expect(await world.during(textsIn(a.session))).toEqual(["1", "2", "3", "new"]);
  });

  test("[C10] a follower waits for the first load, and no longer than the leader is online", async () => {
    const { world, lead, follower } = await two(2_000);
    await world.clock.until(() => follower.client.status.link === "online");
    const reads = [settled(lead.session.history()), settled(follower.session.history())];
    await world.clock.advance(1_000);
    expect(reads.map((read) => read())).toEqual([false, false]);
    lead.cable.cut();
    follower.cable.cut();
    await world.clock.advance(1_000);
    expect(reads.map((read) => read())).toEqual([true, true]);
  });

  test("[C10] a follower waits for no leader that closes, nor for one that has gone", async () => {
    const { world, lead, follower } = await two(2_000);
    await world.clock.until(() => follower.client.status.link === "online");
    follower.cable.cut();
    const read = settled(follower.session.history());
    await world.clock.advance(1_000);
    expect(read()).toBe(false);
    await world.during(lead.client.close());
    await world.clock.advance(2_000);
    expect(read()).toBe(true);
  });

  test("[C38, H3] what a former leader reads and writes of what is not here settles", async () => {
    const { world, lead, follower } = await two(0);
    await world.clock.advance(1_000);
    follower.cable.cut();
    lead.cable.delayMs = 1_000;
    lead.cable.drop();
    await world.clock.until(() => lead.client.status.link !== "online");
    await world.clock.until(() => lead.client.status.link === "online");
    await nap(world, lead);
    follower.cable.heal();
    await world.clock.advance(60_000);
    const session = lead.client.session("new");
    const calls = [
      settled(session.history()),
      settled(session.updateState((draft) => Object.assign(draft, { a: 1 }))),
    ];
    await world.clock.advance(60_000);
    expect(calls.map((call) => call())).toEqual([true, true]);
  });

  test("[C38, C10] a former leader, offline, tells what is here as every other tab does", async () => {
    const { world, a, lead, follower } = await two(0);
    await world.clock.advance(1_000);
    await nap(world, lead);
    lead.cable.cut();
    follower.cable.cut();
    await world.clock.advance(1_000);
    await world.during(a.client.session("later").append({ messages: [say("x")] }));
    await world.during(a.client.flush());
    follower.cable.heal();
    follower.cable.delayMs = 1_000;
    follower.client.reconnect();
    const named = async (): Promise<boolean> =>
      ((await rowsOf(follower.database)).sessions ?? []).some((row) => "id" in row && row.id === "later");
    for (let n = 0; n < 2_000 && !(await named()); n++) await world.clock.advance(10);
    expect(await named()).toBe(true);
    follower.cable.cut();
    await world.clock.advance(20_000);
    const read = settled(lead.client.session("later").history());
    await world.clock.advance(60_000);
    expect(read()).toBe(true);
  });
});
