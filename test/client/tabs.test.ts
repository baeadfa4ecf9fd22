import { describe, expect, test } from "vitest";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { type TestTab, TestTabs } from "../../src/testing/tabs.ts";
import type { World } from "../sim/world.ts";
import { begin, openTab, rowsOf, say, type Tab, textsIn } from "./setting.ts";

interface Profile {
  readonly disk: MemoryDisk;
  readonly open: () => Promise<Tab & { readonly tab: TestTab }>;
}

function profile(world: World): Profile {
  const disk = new MemoryDisk();
  const tabs = new TestTabs(world.clock);
  return {
    disk,
    open: async () => {
      const tab = tabs.open();
      return { ...(await openTab(world, { disk, tabs: tab })), tab };
    },
  };
}

/** What the rows say that the status must say. */
async function counted({ database }: Tab): Promise<{ pending: number; rejected: number }> {
  const { outbox = [], rejected = [], state = [] } = await rowsOf(database);
  const unsent = new Set(
    (state as { session: string; unsent: number }[])
      .filter((row) => row.unsent === 1)
      .map(({ session }) => session),
  );
  return { pending: outbox.length + unsent.size, rejected: rejected.length };
}

describe("tabs of one profile", () => {
  test("[C37, H12] one leads, followers' writes are sent by the leader, both see everything", async () => {
    const { world, b } = await begin(2);
    const { open } = profile(world);
    const one = await open();
    const two = await open();
    await world.clock.advance(1_000);
    expect([one.client.status.leader, two.client.status.leader]).toEqual([true, false]);
    expect(two.cable.connects).toBe(0);
    expect(two.client.status.link).toBe("online");
    one.session.messages.subscribe(() => {});
    two.session.messages.subscribe(() => {});
    await world.during(two.session.append({ messages: [say("from two")] }, { until: "confirmed" }));
    await world.during(one.session.append({ messages: [say("from one")] }, { until: "confirmed" }));
    await world.during(two.session.updateState((draft) => Object.assign(draft, { two: 2 })));
    await world.during(one.session.updateState((draft) => Object.assign(draft, { one: 1 })));
    await world.during(two.client.sessions.rename("talk", "Renamed by two"));
    await world.clock.advance(1_000);
    for (const { client, session } of [one, two, b]) {
      expect(await world.during(textsIn(session))).toEqual(["from two", "from one"]);
      expect(await world.during(session.state())).toEqual({ one: 1, two: 2 });
      expect((await client.sessions.list()).entries[0]?.title).toBe("Renamed by two");
      expect(client.status).toMatchObject({ pending: 0, rejected: 0, link: "online" });
    }
    for (const { session } of [one, two])
      expect(session.messages.entries.map(({ delivery }) => delivery)).toEqual(["confirmed", "confirmed"]);
    expect(two.cable.connects).toBe(0);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });

  test("[C39] a write in a follower that is killed right after is sent by the leader", async () => {
    const { world, b } = await begin(2);
    const { open } = profile(world);
    const one = await open();
    const two = await open();
    await world.clock.advance(500);
    await two.session.append({ messages: [say("last words")] });
    two.database.kill();
    two.tab.kill();
    await world.clock.advance(1_000);
    expect(await world.during(textsIn(b.session))).toEqual(["last words"]);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });

  for (const end of ["closed", "killed"] as const) {
    test(`[C37, H12] the leader is ${end}: the next tab leads and sends what waits, once`, async () => {
      const { world, b } = await begin(2);
      const { open } = profile(world);
      const one = await open();
      const two = await open();
      const three = await open();
      await world.clock.advance(500);
      one.cable.swallow();
      await world.during(two.session.append({ messages: [say("waits")] }));
      await world.during(one.session.append({ messages: [say("too")] }));
      if (end === "closed") await world.during(one.client.close());
      else {
        one.database.kill();
        one.tab.kill();
        one.cable.drop();
      }
      await world.clock.advance(5_000);
      expect([two.client.status.leader, three.client.status.leader]).toEqual([true, false]);
      expect([two.client.status.link, three.client.status.link]).toEqual(["online", "online"]);
      expect(await world.during(textsIn(b.session))).toEqual(["waits", "too"]);
      for (const { client } of [two, three]) expect(client.status.pending).toBe(0);
      await world.during(
        Promise.all([one.client.close(), two.client.close(), three.client.close(), world.close()]),
      );
    });
  }

  test("[H12] the status is what the rows say, and the same in all tabs, at every quiet moment", async () => {
    const { world, b } = await begin(2);
    const { open } = profile(world);
    const one = await open();
    const two = await open();
    const tabs = [one, two];
    await world.clock.advance(1_000);
    let told = 0;
    for (const { client } of tabs) client.subscribe(() => (told += 1));
    const steps: (() => unknown)[] = [
      () => one.session.append({ messages: [say("1")] }),
      () => one.cable.cut(),
      () => two.session.append({ messages: [say("2")] }),
      () => two.session.append({ messages: [say("3")] }, { onConflict: "reject" }),
      () => one.session.updateState((draft) => Object.assign(draft, { n: 1 })),
      () => b.session.append({ messages: [say("foreign")] }, { until: "confirmed" }),
      () => one.client.sessions.rename("talk", "T"),
      () => one.cable.heal(),
      () => one.client.reconnect(),
      () => world.clock.advance(31_000),
      async () => two.client.rejected.retry((await two.client.rejected.list())[0]?.opId ?? ""),
      () => two.session.updateState((draft) => Object.assign(draft, { n: 2 })),
      () => two.client.sessions.delete("talk"),
      () => world.clock.advance(5_000),
    ];
    let sawRejected = false;
    for (const [index, step] of steps.entries()) {
      await world.during(step() as Promise<void>);
      await world.clock.advance(50);
      const { pending, rejected } = await counted(one);
      sawRejected ||= rejected > 0;
      for (const { client } of tabs)
        expect(client.status, `step ${index}`).toMatchObject({ pending, rejected });
      expect(two.client.status.link, `step ${index}`).toBe(one.client.status.link);
      expect(two.client.status.lastSyncedAt, `step ${index}`).toBe(one.client.status.lastSyncedAt);
    }
    expect(sawRejected).toBe(true);
    expect(told).toBeGreaterThan(10);
    expect(await counted(one)).toEqual({ pending: 0, rejected: 0 });
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });

  test("[H12] a status is one frozen object until something in it changes", async () => {
    const { world, a } = await begin(1);
    const first = a.client.status;
    expect(Object.isFrozen(first)).toBe(true);
    expect(a.client.status).toBe(first);
    const seen: object[] = [];
    a.client.subscribe(() => seen.push(a.client.status));
    await world.during(a.session.append({ messages: [say("x")] }, { until: "confirmed" }));
    await world.clock.advance(1_000);
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen).size).toBe(seen.length);
    expect(a.client.status).toBe(a.client.status);
    await world.during(world.close());
    expect(a.client.status).toMatchObject({ link: "closed", leader: false });
  });

  test("[H5] a follower reads and restores generations that only the relay has", async () => {
    const { world, b } = await begin(2);
    await world.during(b.session.append({ messages: [say("old")] }, { until: "confirmed" }));
    await world.during(b.session.replace({ messages: [say("new")] }));
    await world.settle();
    const { open } = profile(world);
    const one = await open();
    const two = await open();
    await world.clock.advance(1_000);
    expect(two.client.status.leader).toBe(false);
    expect((await world.during(two.session.generations())).map(({ generation }) => generation)).toEqual([
      0, 1,
    ]);
    expect(await world.during(two.session.history({ generation: 0 }))).toHaveLength(1);
    await world.during(two.session.restore(0));
    await world.clock.advance(1_000);
    expect(await world.during(textsIn(b.session))).toEqual(["old"]);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });
});
