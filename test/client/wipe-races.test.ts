// Logging out while something else happens: what is unsent is never deleted unless forced, and nothing deleted is told as sent.
import { expect, test } from "vitest";
import { StorageError } from "../../src/model/errors.ts";
import type { LocalDatabase } from "../../src/store/database.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { begin, openTab, rowsOf, say, textsIn } from "./setting.ts";

interface Faults {
  /** Whether a read, or a write, of these tables fails. */
  read?: (tables: readonly string[]) => boolean;
  write?: (tables: readonly string[]) => boolean;
}

function failing(db: LocalDatabase<SyncRows>, faults: Faults): LocalDatabase<SyncRows> {
  const fail = () => Promise.reject(new StorageError("Asked to fail", { reason: "failed" }));
  return {
    read: (tables, work) => (faults.read?.(tables) === true ? fail() : db.read(tables, work)),
    write: (tables, work) => (faults.write?.(tables) === true ? fail() : db.write(tables, work)),
    watch: (listener) => db.watch(listener),
    close: () => db.close(),
    destroy: () => db.destroy(),
  };
}

/** Two tabs of one profile, offline, the first of which stands on storage that can be made to fail. */
async function twoTabs(faults: Faults = {}) {
  const { world, a } = await begin(1);
  const [disk, tabs] = [new MemoryDisk(), new TestTabs(world.clock)];
  const [first, second] = [tabs.open(), tabs.open()];
  const one = await openTab(world, { disk, tabs: first, wrap: (db) => failing(db, faults) });
  const two = await openTab(world, { disk, tabs: second });
  await world.clock.advance(1_000);
  const cut = async () => {
    one.cable.cut();
    two.cable.cut();
    await world.clock.advance(1_000);
  };
  const onDisk = async () => {
    const rows = await rowsOf(new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }));
    return Object.values(rows).flat();
  };
  return { world, a, one, two, second, cut, onDisk };
}

const told = (work: Promise<unknown>) =>
  work.then(
    (value) => ({ value }),
    (error: { reason?: string; code?: string }) => ({ failed: error.reason ?? error.code }),
  );

test.each(["here", "in another tab"])(
  "[C42, H1] an append %s at the same moment as an unforced wipe: it is counted and kept, or it is refused",
  async (where) => {
    for (let turns = 0; turns < 12; turns += 1) {
      const { world, one, two, cut, onDisk } = await twoTabs();
      await cut();
      const { session } = where === "here" ? one : two;
      const append = told(session.append({ messages: [say("racing")] }));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const [appended, wiped] = await world.during(Promise.all([append, told(one.client.wipe())]));
      if ("value" in appended) {
        expect(wiped).toEqual({ value: { pending: 1 } });
        expect(JSON.stringify(await onDisk())).toContain("racing");
      } else {
        expect(["reset", "closed"]).toContain(appended.failed);
        expect(wiped).toEqual({ value: { pending: 0 } });
      }
      await world.during(world.close());
    }
  },
);

test("[C42] where it cannot be read what is unsent, an unforced wipe deletes nothing", async () => {
  const faults: Faults = {};
  const { world, one, cut, onDisk } = await twoTabs(faults);
  await cut();
  // The counts that the status tells cannot be read, and stay at what they were.
  faults.read = (tables) => tables.includes("rejected") && tables.includes("state");
  await world.during(one.session.append({ messages: [say("unsent")] }));
  expect(await world.during(one.client.wipe())).toEqual({ pending: 1 });
  expect(JSON.stringify(await onDisk())).toContain("unsent");
  await world.during(world.close());
});

test("[C42, C16] what another tab wiped is never told as confirmed, nor by flush as gone out", async () => {
  const { world, a, one, two, second, cut } = await twoTabs();
  await cut();
  const append = told(two.session.append({ messages: [say("never sent")] }, { until: "confirmed" }));
  await world.clock.advance(100);
  const flushed = told(two.client.flush({ timeoutMs: 60_000 }));
  second.freeze();
  expect(await world.during(one.client.wipe({ force: true }))).toEqual({ pending: 1 });
  await world.clock.advance(1_000);
  second.thaw();
  expect(await world.during(append)).toEqual({ failed: "closed" });
  expect(await world.during(flushed)).not.toEqual({ value: { pending: 0 } });
  expect(await world.during(textsIn(a.session))).toEqual([]);
  await world.during(world.close());
});

test("[C42] a wipe that fails: no tab says that all is deleted, and it can be tried again", async () => {
  const faults: Faults = {};
  const { world, one, two, onDisk } = await twoTabs(faults);
  await world.during(one.session.append({ messages: [say("secret")] }));
  expect(await world.during(one.client.flush())).toEqual({ pending: 0 });
  let failures = 1;
  faults.write = (tables) => tables.length > 6 && failures-- > 0;
  expect(await world.during(told(one.client.wipe()))).toEqual({ failed: "failed" });
  await world.clock.advance(1_000);
  for (const { client } of [one, two]) {
    expect(client.status.link).not.toBe("closed");
    expect(client.status.storage).not.toBe("reset");
  }
  expect(await world.during(textsIn(two.session))).toEqual(["secret"]);
  expect(await world.during(one.client.wipe())).toEqual({ pending: 0 });
  await world.clock.advance(1_000);
  expect(two.client.status).toMatchObject({ link: "closed", storage: "reset" });
  expect(JSON.stringify(await onDisk())).not.toContain("secret");
  await world.during(world.close());
});
