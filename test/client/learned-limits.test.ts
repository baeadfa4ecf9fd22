import { expect, test, vi } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { RejectedError } from "../../src/model/errors.ts";
import { World } from "../sim/world.ts";
import { watchUncaught } from "../support/uncaught.ts";
import { begin, replaceRelay, say } from "./setting.ts";

test("[H10] [C27] a state that grows beyond its limit by small edits is refused at the edit that would; smaller ones go on", async () => {
  const { world, a, b } = await begin(2);
  await replaceRelay(world, { limits: { maxStateBytes: 20_000 } });
  await world.during(a.session.append({ messages: [say("x")] }, { until: "confirmed" }));
  await world.settle();
  const grow = (n: number) =>
    world.during(
      a.session.updateState((draft) => {
        draft[`part${n}`] = "x".repeat(4_000);
      }),
    );
  for (const n of [1, 2, 3, 4]) await grow(n);
  await expect(grow(5)).rejects.toBeInstanceOf(RejectedError);
  await world.during(
    a.session.updateState((draft) => {
      delete draft.part1;
      draft.note = "there is room again";
    }),
  );
  await world.settle();
  expect(await world.during(b.session.state())).toEqual(await world.during(a.session.state()));
  expect(Object.keys(await world.during(b.session.state())).sort()).toEqual([
    "note",
    "part2",
    "part3",
    "part4",
  ]);
  await world.during(world.close());
});

test("[H9] limits that no relay has told yet refuse nothing: what turns out too large is set aside", async () => {
  const world = await World.begin(3, memoryStorage(), 1);
  const [a] = world.devices;
  if (a === undefined) throw new Error("A world needs a device");
  // No time has passed: there was no welcome yet.
  await a.session.append({ messages: [say("y".repeat(2_000_000))] });
  await world.settle();
  expect((await a.client.rejected.list()).map(({ reason }) => reason)).toEqual(["too-large"]);
  await expect(a.session.append({ messages: [say("z".repeat(2_000_000))] })).rejects.toBeInstanceOf(
    RejectedError,
  );
  await world.during(world.close());
});

test("[H10] a listener of presence that throws keeps no client from closing, and surfaces as uncaught", async () => {
  const uncaught = watchUncaught();
  const { world, a } = await begin(1);
  a.session.awareness.setLocalState({ here: true });
  a.session.awareness.on("change", () => {
    throw new Error("a listener's own trouble");
  });
  await world.during(a.client.close());
  expect(a.client.status.link).toBe("closed");
  expect(uncaught).toHaveBeenCalled();
  vi.unstubAllGlobals();
});
