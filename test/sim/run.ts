import { expect } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { drawStep, newLedger } from "./steps.ts";
import { textsOf, World } from "./world.ts";

/** One world from its seed: trouble for a while, then peace; everything that was promised is checked. */
export async function run(seed: number): Promise<number> {
  const world = await World.begin(seed, memoryStorage(), 3);
  const ledger = newLedger();
  const trace: string[] = [];
  try {
    const steps = 8 + world.random.below(25);
    for (let n = 0; n < steps; n++) {
      const device = world.devices[world.random.below(world.devices.length)];
      if (device === undefined) continue;
      const [name, step] = drawStep(world);
      trace.push(`${device.name}:${name}`);
      await world.during(step(world, device, ledger) as Promise<void>);
    }
    await world.settle();
    await world.during(check(world, ledger));
    return steps;
  } catch (error) {
    throw new Error(
      `seed ${seed} after ${trace.join(" ")}\n${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    await world.during(world.close());
  }
}

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
  for (const { name } of world.devices) {
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
