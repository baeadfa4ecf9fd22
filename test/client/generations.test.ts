import { describe, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import type { Device } from "../sim/device.ts";
import type { World } from "../sim/world.ts";
import { begin, say, textsIn } from "./setting.ts";

async function logs(world: World, { session }: Device): Promise<string[][]> {
  const found: string[][] = [];
  for (const { generation } of await world.during(session.generations())) {
    found.push((await world.during(session.history({ generation }))).map(textOf));
  }
  return found;
}

describe("generations", () => {
  test("[H5, S7] a checkpoint that diverged becomes a replace; what was replaced is readable and restorable from every device", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1"), say("2"), say("3")] }));
    await world.settle();
    a.cable.cut();
    // The local view is an unchanged prefix: an append, for now.
    await world.during(
      a.session.checkpoint({ messages: [...(await a.session.history()), say("4 of a")], state: { by: "a" } }),
    );
    await world.during(b.session.append({ messages: [say("foreign")] }, { until: "confirmed" }));
    await world.settle();
    const replaced = ["1", "2", "3", "foreign"];
    const present = ["1", "2", "3", "4 of a"];
    for (const device of [a, b]) {
      expect(await world.during(textsIn(device.session))).toEqual(present);
      expect(await logs(world, device)).toEqual([replaced, present]);
      expect(await world.during(device.session.state())).toEqual({ by: "a" });
    }
    await world.during(b.session.restore(0));
    await world.settle();
    for (const device of [a, b]) expect(await logs(world, device)).toEqual([replaced, present, replaced]);
    const listed = await world.during(a.session.generations());
    expect(listed.map(({ current, generation, count }) => [generation, count, current])).toEqual([
      [0, 4, false],
      [1, 4, false],
      [2, 4, true],
    ]);
    await world.during(world.close());
  });

  test("[H5, S6] every way to write a whole log archives the one before it", async () => {
    const { world, a, b } = await begin(2);
    const one = say("1");
    await world.during(a.session.append({ messages: [one, say("2"), say("3")] }));
    await world.settle();
    await world.during(a.session.checkpoint({ messages: (await a.session.history()).slice(0, 1) }));
    await world.during(a.session.replace({ messages: [] }));
    await world.during(a.session.checkpoint({ messages: [one, say("x")] }));
    await world.during(a.session.replace({ messages: [one, say("y"), say("z")] }));
    const local = await world.during(textsIn(a.session));
    await world.settle();
    const expected = [["1", "2", "3"], ["1"], ["1", "x"], ["1", "y", "z"]];
    // The empty log is a prefix of the one after it: that checkpoint was an append.
    expect(await logs(world, a)).toEqual(expected);
    expect(await logs(world, b)).toEqual(expected);
    expect(local).toEqual(["1", "y", "z"]);
    await world.during(world.close());
  });

  test("[H5] restore works offline where the generation is held, and says so where it is not", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }, { until: "confirmed" }));
    await world.during(a.session.replace({ messages: [say("other")] }));
    await world.settle();
    a.cable.cut();
    await world.clock.advance(100);
    expect((await a.session.generations()).map(({ generation }) => generation)).toEqual([0, 1]);
    await world.during(a.session.restore(0));
    expect(await textsIn(a.session)).toEqual(["1", "2"]);
    await expect(a.session.restore(7)).rejects.toMatchObject({ code: "connection" });
    await world.settle();
    expect(await world.during(textsIn(b.session))).toEqual(["1", "2"]);
    // A device that never held generation 0 reads it from the relay, and cannot while it is away.
    await b.cable.cut();
    const fresh = await begin(1, world.storage);
    expect((await fresh.world.during(fresh.a.session.history({ generation: 1 }))).map(textOf)).toEqual([
      "other",
    ]);
    fresh.a.cable.cut();
    await fresh.world.clock.advance(100);
    await expect(fresh.a.session.history({ generation: 1 })).rejects.toMatchObject({ code: "connection" });
    fresh.a.cable.heal();
    await fresh.world.clock.advance(60_000);
    await fresh.world.during(fresh.a.session.restore(1));
    await fresh.world.settle();
    expect(await fresh.world.during(textsIn(fresh.a.session))).toEqual(["other"]);
    await fresh.world.during(fresh.world.close());
  });

  test("[S6, H3] replace with expected is refused when the view has moved, here or at the relay", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1")] }, { until: "confirmed" }));
    await world.settle();
    const stale = { generation: 0, count: 0 };
    await expect(
      world.during(a.session.replace({ messages: [say("no")], expected: stale })),
    ).rejects.toMatchObject({ code: "conflict", expected: stale, actual: { generation: 0, count: 1 } });
    a.cable.cut();
    await world.during(a.session.replace({ messages: [say("late")], expected: { generation: 0, count: 1 } }));
    expect(await textsIn(a.session)).toEqual(["late"]);
    await world.during(b.session.append({ messages: [say("2")] }, { until: "confirmed" }));
    await world.settle();
    for (const { session } of [a, b]) expect(await world.during(textsIn(session))).toEqual(["1", "2"]);
    expect(await a.client.rejected.list()).toMatchObject([{ reason: "conflict", kind: "replace" }]);
    const [op] = await a.client.rejected.list();
    await a.client.rejected.retry(op?.opId ?? "");
    await world.settle();
    expect(await world.during(textsIn(b.session))).toEqual(["late"]);
    await world.during(world.close());
  });

  test("[H5] a generation whose end this device never saw is told from the relay, whole, and restored whole", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }, { until: "confirmed" }));
    await world.settle();
    b.cable.cut();
    await world.clock.advance(100);
    await world.during(a.session.append({ messages: [say("3")] }, { until: "confirmed" }));
    await world.during(a.session.replace({ messages: [say("other")] }));
    await world.during(a.client.flush());
    await world.settle();
    b.cable.cut();
    await world.clock.advance(100);
    expect((await b.session.generations()).map(({ generation }) => generation)).toEqual([1]);
    await expect(b.session.history({ generation: 0 })).rejects.toMatchObject({ code: "connection" });
    await expect(b.session.restore(0)).rejects.toMatchObject({ code: "connection" });
    await world.settle();
    expect((await world.during(b.session.history({ generation: 0 }))).map(textOf)).toEqual(["1", "2", "3"]);
    await world.during(b.session.restore(0));
    await world.settle();
    expect(await world.during(textsIn(a.session))).toEqual(["1", "2", "3"]);
    await world.during(world.close());
  });

  test("[H5] what is replaced under one's eyes is held whole, and can be restored offline", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }, { until: "confirmed" }));
    await world.settle();
    await world.during(a.session.replace({ messages: [say("other")] }));
    await world.settle();
    b.cable.cut();
    await world.clock.advance(100);
    expect((await b.session.generations()).map(({ generation }) => generation)).toEqual([0, 1]);
    await world.during(b.session.restore(0));
    expect(await textsIn(b.session)).toEqual(["1", "2"]);
    await world.during(world.close());
  });
});
