import { expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { World } from "../sim/world.ts";

async function pair(): Promise<World> {
  const world = await World.begin(7, memoryStorage(), 2);
  await world.clock.advance(1_000);
  return world;
}

test("[H5] [C43] a session that is deleted and begun anew has nothing of its former state, on any device", async () => {
  const world = await pair();
  const [a, b] = world.devices;
  if (a === undefined || b === undefined) throw new Error("two devices");
  await a.session.append({ messages: [world.message(a)], state: { old: true, kept: 1 } });
  await world.clock.advance(2_000);
  expect(await world.during(b.session.state())).toEqual({ old: true, kept: 1 });
  await a.client.sessions.delete(a.session.id);
  // Before the relay has heard of the delete, the next life begins.
  await a.session.append({ messages: [world.message(a)], state: { ...(await a.session.state()), fresh: 2 } });
  expect(await a.session.state()).toEqual({ fresh: 2 });
  await world.settle();
  for (const { session } of world.devices) {
    expect(await world.during(session.state())).toEqual({ fresh: 2 });
    expect(await world.during(session.history())).toHaveLength(1);
  }
  await b.session.updateState((draft) => {
    draft.more = 3;
  });
  await world.settle();
  for (const { session } of world.devices)
    expect(await world.during(session.state())).toEqual({ fresh: 2, more: 3 });
  await world.close();
});
