import { describe, expect, test } from "vitest";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { begin, openTab, say, textsIn } from "./setting.ts";

describe("closing while something is under way", () => {
  test("[H1] an append that was begun before its session closed resolves, and is there once", async () => {
    const { world, a, b } = await begin(2);
    const written = a.session.append({ messages: [say("last words")] });
    await world.during(a.session.close());
    expect((await written).revision).toEqual({ generation: 0, count: 1 });
    await world.settle();
    expect(await world.during(textsIn(b.session))).toEqual(["last words"]);
    await world.during(world.close());
  });

  test("[H1, H12] an append that was begun before its client closed resolves, and waits on disk for the next client", async () => {
    const { world } = await begin(1);
    const disk = new MemoryDisk();
    const tab = await openTab(world, { disk });
    const written = tab.session.append({ messages: [say("last words")] });
    await world.during(tab.client.close());
    expect((await written).messages).toHaveLength(1);
    const next = await openTab(world, { disk });
    expect(await world.during(textsIn(next.session))).toEqual(["last words"]);
    await world.during(next.client.close());
    await world.during(world.close());
  });

  test("[H12] who waits for the relay's answer is told when the client closes; the write stays in the outbox", async () => {
    const { world, a } = await begin(1);
    a.cable.cut();
    const disk = new MemoryDisk();
    const tab = await openTab(world, { disk, cable: a.cable });
    const waiting = tab.session.append({ messages: [say("unsent")] }, { until: "confirmed" });
    const told = expect(waiting).rejects.toMatchObject({ code: "closed" });
    await world.clock.advance(10);
    await world.during(tab.client.close());
    await told;
    const next = await openTab(world, { disk, cable: a.cable });
    expect(next.client.status.pending).toBe(1);
    await world.during(next.client.close());
    await world.during(world.close());
  });

  test("[C1] a read that waits for the relay is refused when the client closes: the session is not told as empty", async () => {
    const { world, a } = await begin(1);
    await world.during(a.session.append({ messages: [say("here")] }));
    await world.settle();
    const fresh = await openTab(world);
    const reading = expect(fresh.session.history()).rejects.toMatchObject({ code: "closed" });
    await world.during(fresh.client.close());
    await reading;
    await world.during(world.close());
  });

  test("[H5] a device that has just connected waits for the catalog before it says that there is no such generation", async () => {
    const { world, a } = await begin(1);
    await world.during(a.session.append({ messages: [say("first")] }));
    await world.during(a.session.replace({ messages: [say("second")] }));
    await world.settle();
    for (const read of ["generations", "history"] as const) {
      const fresh = await openTab(world);
      if (read === "generations")
        expect(await world.during(fresh.session.generations())).toMatchObject([
          { generation: 0, count: 1, current: false },
          { generation: 1, count: 1, current: true },
        ]);
      else expect(await world.during(fresh.session.history({ generation: 0 }))).toHaveLength(1);
      await world.during(fresh.client.close());
    }
    await world.during(world.close());
  });
});
