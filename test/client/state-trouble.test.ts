import { afterEach, describe, expect, test, vi } from "vitest";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { watchUncaught } from "../support/uncaught.ts";
import { type Faults, faulty, once } from "./faulty-database.ts";
import { begin, openTab, say } from "./setting.ts";

/** Two devices that have the session; of the second one the database fails on demand. */
async function setting() {
  const { world, a } = await begin(1);
  const faults: Faults = {};
  const disk = new MemoryDisk();
  const tabs = new TestTabs(world.clock);
  const tab = await openTab(world, { disk, tabs: tabs.open(), wrap: faulty(faults) });
  await world.during(tab.session.append({ messages: [say("x")] }));
  await world.during(tab.client.flush());
  await world.clock.advance(1_000);
  return { world, a, faults, disk, tabs, tab };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

function throwOnce(): () => void {
  let left = 1;
  return () => {
    if (left-- > 0) throw new Error("the application's");
  };
}

describe("state and storage that fails once", () => {
  test("[C4] what the relay has is not pending for ever because noting it failed; no other connection is needed", async () => {
    const { world, a, faults, tab } = await setting();
    tab.cable.delayMs = 50;
    await world.during(
      tab.session.updateState((draft) => {
        draft.n = 1;
      }),
    );
    let failed = 3;
    faults.write = (tables) => tables.split(",").includes("state") && failed-- > 0;
    await world.clock.advance(60_000);
    expect(failed).toBeLessThan(1);
    expect([await world.during(a.session.state()), tab.client.status.pending]).toEqual([{ n: 1 }, 0]);
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });

  for (const tables of ["state,meta", "sessions,state,meta", "state,sessions"]) {
    test(`[C4] a read of ${tables} that fails when the connection is back costs no state`, async () => {
      const { world, a, faults, tab } = await setting();
      tab.cable.cut();
      await world.clock.advance(1_000);
      await world.during(
        tab.session.updateState((draft) => {
          draft.n = 1;
        }),
      );
      let failed = false;
      faults.read = once((told) => {
        failed ||= told === tables;
        return told === tables;
      });
      tab.cable.heal();
      tab.client.reconnect();
      await world.clock.advance(60_000);
      expect(failed).toBe(true);
      expect([await world.during(a.session.state()), tab.client.status.pending]).toEqual([{ n: 1 }, 0]);
      await world.during(Promise.all([tab.client.close(), world.close()]));
    });
  }
});

describe("observers of a document that throw", () => {
  test("[C4, H12] cost no later edit: it is stored", async () => {
    const uncaught = watchUncaught();
    const { world, disk, tabs, tab } = await setting();
    const other = await openTab(world, { disk, tabs: tabs.open() });
    await world.during(other.session.load());
    await world.clock.advance(1_000);
    tab.cable.cut();
    await world.clock.advance(1_000);
    other.session.doc.on("update", throwOnce());
    other.session.doc.getMap("state").observe(throwOnce());
    await world.during(
      tab.session.updateState((draft) => {
        draft.one = 1;
      }),
    );
    await world.clock.advance(1_000);
    expect(uncaught).toHaveBeenCalledTimes(1);
    other.session.doc.getMap("state").set("/two", 2);
    await world.clock.advance(1_000);
    await world.during(Promise.all([tab.client.close(), other.client.close()]));
    const next = await openTab(world, { disk, tabs: tabs.open() });
    next.cable.cut();
    expect(await world.during(next.session.state())).toEqual({ one: 1, two: 2 });
    await world.during(Promise.all([next.client.close(), world.close()]));
  });

  test("[C4, H12] keep no edit from the relay, and none is told as sent that was not", async () => {
    const uncaught = watchUncaught();
    const { world, a, tab } = await setting();
    const away = await openTab(world);
    // Before the channel listens.
    away.session.doc.on("update", throwOnce());
    await world.during(away.session.load());
    await world.clock.advance(5_000);
    away.session.doc.getMap("state").set("/first", 1);
    away.session.doc.getMap("state").set("/second", 2);
    await world.clock.advance(1_000);
    expect(uncaught).toHaveBeenCalledTimes(1);
    expect(away.client.status.pending).toBe(0);
    expect(await world.during(a.session.state())).toEqual({ first: 1, second: 2 });
    expect(await world.during(tab.session.state())).toEqual({ first: 1, second: 2 });
    await world.during(Promise.all([away.client.close(), tab.client.close(), world.close()]));
  });

  test("[C4, H12] of types and of presence cost no connection, and no change from the relay", async () => {
    const uncaught = watchUncaught();
    const { world, a, tab } = await setting();
    const connects = tab.cable.connects;
    tab.session.doc.getMap("state").observe(throwOnce());
    tab.session.awareness.on("change", throwOnce());
    await world.during(a.session.load());
    await world.during(
      a.session.updateState((draft) => {
        draft.n = 2;
      }),
    );
    a.session.awareness.setLocalState({ here: true });
    await world.clock.advance(1_000);
    expect(uncaught).toHaveBeenCalledTimes(1);
    expect(await world.during(tab.session.state())).toEqual({ n: 2 });
    expect([...tab.session.awareness.getStates().values()]).toEqual([{ here: true }]);
    expect(tab.cable.connects).toBe(connects);
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });
});
