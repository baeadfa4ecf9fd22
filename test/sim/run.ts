import { expect } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import type { Client } from "../../src/client.ts";
import { SIDE } from "./device.ts";
import { newLedger, STEPS } from "./steps.ts";
import { textsOf, World } from "./world.ts";

/** One thing that happens in a world: to which device, what, and a number that decides its details. */
export interface Scripted {
  readonly device: number;
  readonly step: string;
}

/** One world: trouble by the script, then peace; everything that was promised is checked. Tells the trace of it all. */
export async function run(seed: number, script: readonly Scripted[]): Promise<string> {
  const world = await World.begin(seed, memoryStorage(), DEVICES);
  const ledger = newLedger();
  try {
    for (const { device: index, step } of script) {
      const device = world.devices[index];
      const work = STEPS.get(step)?.work;
      if (device === undefined || work === undefined) throw new Error(`No step ${step} for device ${index}`);
      world.note(`${device.name} ${step}`);
      await world.during(work(world, device, ledger));
    }
    await world.settle();
    await world.during(check(world, ledger));
    return world.trace();
  } finally {
    await world.during(world.close());
  }
}

/** How many clients share a world. */
export const DEVICES = 3;

async function check(world: World, ledger: ReturnType<typeof newLedger>): Promise<void> {
  const views = await Promise.all(
    world.devices.map(async ({ session }) => {
      const snapshot = await session.load();
      return {
        ids: (snapshot?.messages ?? []).map(({ id }) => id),
        texts: textsOf(snapshot?.messages ?? []),
        state: snapshot?.state ?? {},
        metadata: snapshot?.metadata ?? {},
        revision: snapshot?.revision,
      };
    }),
  );
  const [first] = views;
  for (const view of views) expect(view).toEqual(first);
  for (const { client, second } of world.devices) {
    if (second === undefined) continue;
    const ids = ((await second.session.load())?.messages ?? []).map(({ id }) => id);
    expect(ids).toEqual(first?.ids);
    const { pending, rejected, link, lastSyncedAt, storage } = second.client.status;
    expect(client.status).toMatchObject({ pending, rejected, link, lastSyncedAt, storage });
    expect([client.status.leader, second.client.status.leader].filter(Boolean)).toHaveLength(1);
  }
  const sides = await Promise.all(world.devices.map(({ client }) => sideOf(client)));
  for (const side of sides) expect(side).toEqual(sides[0]);
  expect(world.devices.flatMap(({ sights }) => sights)).toEqual([]);
  const generations = await world.generations();
  const current = generations.at(-1)?.messages.map(({ id }) => id) ?? [];
  expect(first?.ids).toEqual(current);
  const everywhere = new Set(generations.flatMap(({ messages }) => messages.map(({ id }) => id)));
  for (const { messages } of generations)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  const rejected = new Set<string>();
  for (const { client } of world.devices) {
    for (const op of await client.rejected.list()) for (const { id } of op.messages) rejected.add(id);
  }
  for (const { id } of ledger.committed)
    expect(everywhere.has(id) || rejected.has(id), `committed ${id}`).toBe(true);
  for (const id of ledger.acknowledged) expect(everywhere.has(id), `acknowledged ${id}`).toBe(true);
  for (const id of ledger.refused) {
    if (!ledger.contained.has(id)) expect(everywhere.has(id), `refused ${id}`).toBe(false);
  }
  for (const id of rejected) expect(everywhere.has(id), `rejected ${id}`).toBe(false);
  for (const name of world.devices.flatMap((device) => [device.name, `${device.name}2`])) {
    const own = ledger.committed
      .filter(({ device, floating }) => device === name && floating)
      .map(({ id }) => id);
    const standing = current.filter((id) => own.includes(id));
    expect(standing).toEqual(own.filter((id) => standing.includes(id)));
  }
  for (const [leaf, value] of ledger.leaves) {
    const [device = "", key = ""] = leaf.split("/");
    const part = first?.state[device] as Record<string, unknown> | undefined;
    expect(part?.[key], `leaf ${leaf}`).toBe(value);
  }
}

/** The session that is also deleted now and then, as one device has it. */
async function sideOf(client: Client): Promise<unknown> {
  const session = client.session(SIDE);
  const snapshot = await session.load();
  await session.close();
  return snapshot === undefined
    ? "none"
    : { texts: textsOf(snapshot.messages), state: snapshot.state, revision: snapshot.revision };
}
