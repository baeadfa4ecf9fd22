import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { World } from "../sim/world.ts";
import { begin, say, textsIn } from "./setting.ts";

describe("many clients", () => {
  for (const [delay, delayMs] of Object.entries({ none: 0, "up to 300 ms": [0, 300] as const })) {
    test(`[C18, H2, T1] fifty appends at once from ten clients, delay ${delay}: all present, one order everywhere`, async () => {
      const world = await World.begin(18, memoryStorage(), 10);
      await world.clock.advance(100);
      for (const { cable } of world.devices) cable.delayMs = delayMs;
      const written: string[] = [];
      const works = world.devices.flatMap((device) =>
        [1, 2, 3, 4, 5].map((n) => {
          const message = say(`${device.name}${n}`);
          written.push(message.id);
          return device.session.append({ messages: [message] }, { until: "confirmed" });
        }),
      );
      await world.during(Promise.all(works));
      await world.settle();
      const generations = await world.generations();
      expect(generations).toHaveLength(1);
      const ids = generations[0]?.messages.map(({ id }) => id) ?? [];
      expect([...ids].sort()).toEqual([...written].sort());
      for (const { session, name, client } of world.devices) {
        const messages = await world.during(session.history());
        expect(messages.map(({ id }) => id)).toEqual(ids);
        expect((await textsIn(session)).filter((text) => text.startsWith(name))).toEqual(
          [1, 2, 3, 4, 5].map((n) => `${name}${n}`),
        );
        expect(client.status).toMatchObject({ pending: 0, rejected: 0 });
      }
      await world.during(world.close());
    });
  }

  test("[C20, M8] clocks off by a day and jumping back in the middle: the order stands everywhere", async () => {
    const { world, a, b } = await begin(2);
    const expected: string[] = [];
    for (const [n, jump] of [0, 86_400_000, -2 * 86_400_000, 3_600_000, -86_400_000, 0].entries()) {
      world.clock.jump(jump);
      const device = n % 2 === 0 ? a : b;
      const message = world.message(device, `m${n}`);
      await world.during(device.session.append({ messages: [message] }, { until: "confirmed" }));
      await world.clock.advance(500);
      expected.push(`m${n}`);
    }
    a.cable.cut();
    for (const jump of [86_400_000, -86_400_000, 0]) {
      world.clock.jump(jump);
      const text = `offline ${expected.length}`;
      expected.push(text);
      await world.during(a.session.append({ messages: [world.message(a, text)] }));
    }
    await world.settle();
    for (const { session } of [a, b]) expect(await world.during(textsIn(session))).toEqual(expected);
    await world.during(a.reload());
    expect(await world.during(textsIn(a.session))).toEqual(expected);
    await world.during(world.close());
  });

  test("[C20] a thousand messages with one timestamp keep their order", async () => {
    const { world, a, b } = await begin(2);
    const texts = Array.from({ length: 1_000 }, (_, n) => `m${n}`);
    for (let at = 0; at < 1_000; at += 100) {
      const messages = texts.slice(at, at + 100).map((text) => world.message(a, text));
      await a.session.append({ messages });
    }
    await world.settle();
    for (const { session } of [a, b]) expect(await world.during(textsIn(session))).toEqual(texts);
    const times = new Set((await a.session.history()).map(({ createdAt }) => createdAt));
    expect(times.size).toBe(1);
    await world.during(world.close());
  });

  test("[C10, H5] checkpoint([]) before the first load has finished replaces nothing it has not seen", async () => {
    for (const delayMs of [0, 700, 20_000]) {
      const { world, a } = await begin(1);
      const messages = [say("1"), say("2"), say("3")];
      await world.during(a.session.append({ messages }, { until: "confirmed" }));
      await world.clock.advance(1_000);
      const fresh = await World.begin(3, world.storage, 1);
      const [device] = fresh.devices;
      if (device === undefined) throw new Error("no device");
      device.cable.delayMs = delayMs;
      device.cable.drop();
      device.page.signal("online");
      // Whatever it is judged on, either it waits and has seen the three, or it writes nothing.
      await fresh.during(device.session.checkpoint({ messages: [] }));
      await fresh.settle();
      const generations = await fresh.generations();
      const everything = generations.flatMap((generation) => generation.messages.map(({ text }) => text));
      expect(everything).toEqual(["1", "2", "3"]);
      if (generations.length === 1) {
        expect(await fresh.during(textsIn(device.session))).toEqual(["1", "2", "3"]);
      }
      await fresh.during(fresh.close());
    }
  });

  test("[S7, H5] a fresh device that checkpoints its own log offline becomes a replace, and both logs stay readable", async () => {
    const { world, a, b } = await begin(2);
    b.cable.cut();
    await world.clock.advance(100);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }, { until: "confirmed" }));
    await world.during(b.session.checkpoint({ messages: [say("mine")] }));
    await world.settle();
    expect(await world.during(textsIn(a.session))).toEqual(["mine"]);
    expect(await world.during(textsIn(b.session))).toEqual(["mine"]);
    const before = await world.during(b.session.history({ generation: 0 }));
    expect(before).toHaveLength(2);
    await world.during(world.close());
  });
});
