import { describe, expect, test } from "vitest";
import { StorageError } from "../../src/model/errors.ts";
import type { Message } from "../../src/model/message.ts";
import type { World } from "../sim/world.ts";
import { counting, DiskFullError } from "./counting-database.ts";
import { begin, openTab, rowsOf, say, type Tab, textsIn } from "./setting.ts";

async function onFailingDisk(): Promise<{ world: World; tab: Tab; disk: { full: boolean } }> {
  const { world } = await begin(1);
  const disk = { full: false };
  const tab = await openTab(world, {
    wrap: (database) => counting(database, { read: 0, written: 0 }, () => disk.full),
  });
  await world.clock.advance(500);
  return { world, tab, disk };
}

const WRITES: Record<string, (tab: Tab) => Promise<unknown>> = {
  append: ({ session }) => session.append({ messages: [say("new")], state: { n: 2 }, metadata: { t: 2 } }),
  "append that waits": ({ session }) => session.append({ messages: [say("new")] }, { until: "confirmed" }),
  checkpoint: async ({ session }) =>
    session.checkpoint({ messages: [...(await session.history()), say("new")] }),
  replace: ({ session }) => session.replace({ messages: [say("new")] }),
  updateState: ({ session }) => session.updateState((draft) => Object.assign(draft, { n: 2 })),
  rename: ({ client }) => client.sessions.rename("talk", "New"),
  archive: ({ client }) => client.sessions.archive("talk"),
  "mark read": ({ client }) => client.sessions.markRead("talk", 1),
  create: ({ client }) => client.sessions.create("another"),
  delete: ({ client }) => client.sessions.delete("talk"),
};

describe("a disk that fails", () => {
  for (const [kind, write] of Object.entries(WRITES)) {
    test(`[H1, C50] ${kind} on a full disk rejects with what went wrong and changes nothing; afterwards it works`, async () => {
      const { world, tab, disk } = await onFailingDisk();
      const first: Message = say("first");
      await world.during(tab.session.append({ messages: [first], state: { n: 1 }, metadata: { t: 1 } }));
      await world.during(tab.client.flush());
      await world.during(tab.session.state());
      const rows = await rowsOf(tab.database);
      const view = await world.during(tab.session.load());
      disk.full = true;
      await expect(world.during(write(tab))).rejects.toBeInstanceOf(DiskFullError);
      await world.clock.advance(1_000);
      expect(await rowsOf(tab.database)).toEqual(rows);
      expect(await world.during(tab.session.load())).toEqual(view);
      expect(tab.client.status).toMatchObject({ pending: 0, rejected: 0 });
      disk.full = false;
      await world.during(write(tab));
      await world.during(tab.client.flush());
      expect(await rowsOf(tab.database)).not.toEqual(rows);
      expect(tab.client.status).toMatchObject({ pending: 0, rejected: 0 });
      await world.during(Promise.all([tab.client.close(), world.close()]));
    });
  }

  test("[H1, H12] while reads fail, what was committed is neither told as failed nor forgotten in the counts", async () => {
    const { world } = await begin(1);
    const disk = { failing: false };
    const tab = await openTab(world, {
      wrap: (database) => ({
        read: async (tables, work) => {
          if (disk.failing) throw new StorageError("Not now", { reason: "failed" });
          return database.read(tables, work);
        },
        write: (tables, work) => database.write(tables, work),
        watch: (listener) => database.watch(listener),
        close: () => database.close(),
        destroy: () => database.destroy(),
      }),
    });
    await world.during(tab.session.append({ messages: [say("before")] }));
    await world.during(tab.client.flush());
    tab.cable.cut();
    let told: unknown;
    tab.session.append({ messages: [say("meanwhile")] }).then(
      ({ messages }) => {
        told = messages.length;
      },
      (error: unknown) => {
        told = error;
      },
    );
    disk.failing = true;
    await world.clock.advance(5_000);
    expect(told).toBeUndefined();
    disk.failing = false;
    await world.clock.advance(2_000);
    expect(told).toBe(2);
    expect(tab.client.status.pending).toBe(1);
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });

  test("[P44, H2] answers that could not be stored are asked for again: nothing lost, nothing doubled, the error is told", async () => {
    const { world, tab, disk } = await onFailingDisk();
    const [a] = world.devices;
    if (a === undefined) throw new Error("no device");
    tab.cable.delayMs = 300;
    await world.during(tab.session.append({ messages: [say("1")] }));
    disk.full = true;
    await world.clock.advance(2_000);
    await world.during(a.session.append({ messages: [say("2")] }, { until: "confirmed" }));
    await world.during(a.client.sessions.rename("talk", "T"));
    await world.clock.advance(10_000);
    expect(tab.client.status.lastError).toMatchObject({ code: "storage" });
    expect(tab.client.status.pending).toBe(1);
    disk.full = false;
    await world.clock.advance(60_000);
    expect(await world.during(textsIn(tab.session))).toEqual(await world.during(textsIn(a.session)));
    expect(await textsIn(tab.session)).toHaveLength(2);
    expect(tab.client.status).toMatchObject({ pending: 0, link: "online" });
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });
});
