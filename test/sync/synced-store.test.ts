import { describe, test } from "vitest";
import { storeConformance } from "../../src/testing/store-conformance.ts";
import { begin } from "../client/setting.ts";
import { ACTOR } from "../sim/device.ts";

for (const online of [true, false]) {
  describe(`[T8] the synced store passes the suite that ships, ${online ? "online" : "offline"}`, () => {
    const cases = storeConformance(async () => (await begin(1)).a.session.store, { actorId: ACTOR });
    for (const [index, { name }] of cases.entries()) {
      test(name, async () => {
        const { world, a } = await begin(1);
        if (!online) {
          a.cable.cut();
          await world.clock.advance(10_000);
        }
        const [chosen] = storeConformance(async () => a.session.store, { actorId: ACTOR }).slice(index);
        if (chosen === undefined) throw new Error("The suite has changed meanwhile");
        await world.during(chosen.run());
        await world.during(world.close());
      });
    }
  });
}
