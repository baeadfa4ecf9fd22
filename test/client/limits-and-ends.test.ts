import { expect, test } from "vitest";
import type { StorageError } from "../../src/model/errors.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { ACTOR, SESSION } from "../sim/device.ts";
import { faulty, once } from "./faulty-database.ts";
import { begin, openTab, say } from "./setting.ts";

test("[H12, C16] flush keeps its limit and its signal where the storage does not answer, and does not say that all is sent", async () => {
  const { world } = await begin(1);
  let hangs = false;
  const tab = await openTab(world, {
    wrap: (database) => ({
      ...faulty({})(database),
      read: (tables, work) => (hangs ? new Promise(() => {}) : database.read(tables, work)),
    }),
  });
  await world.clock.advance(1_000);
  tab.cable.cut();
  await world.during(tab.session.append({ messages: [say("x")] }));
  hangs = true;
  void tab.client.sessions.rename(SESSION, "T").catch(() => {});
  await world.clock.advance(1_000);
  const ends: unknown[] = [];
  const note = (flushed: Promise<unknown>): void =>
    void flushed.then(
      (told) => ends.push(told),
      (error: unknown) => ends.push((error as StorageError).reason),
    );
  const abort = new AbortController();
  note(tab.client.flush({ timeoutMs: 100 }));
  note(tab.client.flush({ timeoutMs: 600_000, signal: abort.signal }));
  note(tab.client.flush({ timeoutMs: 600_000, signal: AbortSignal.abort() }));
  abort.abort();
  await world.clock.advance(2_000);
  expect(ends).toHaveLength(3);
  for (const end of ends) expect(["timeout", { pending: 1 }]).toContainEqual(end);
});

for (const tables of ["sessions,state,meta", "sessions,state,rejected"]) {
  test(`[C50, H12] an openClient whose read of ${tables} failed leaves nothing running unless it resolved`, async () => {
    const { world } = await begin(1);
    const cable = world.network.cable();
    const given = { disk: new MemoryDisk(), tabs: new TestTabs(world.clock).open(), cable };
    const opened = openTab(world, { ...given, wrap: faulty({ read: once((told) => told === tables) }) });
    const client = await world.during(opened.catch(() => undefined));
    expect(client === undefined).toBe(tables === "sessions,state,meta");
    await world.clock.advance(60_000);
    expect(cable.open).toBe(client === undefined ? 0 : 1);
    // Nor does it hold up who opens it next.
    if (client !== undefined) return;
    const next = await openTab(world, given);
    await world.clock.advance(5_000);
    expect(next.client.status).toMatchObject({ link: "online", leader: true });
    expect(next.client.actorId).toBe(ACTOR);
  });
}
