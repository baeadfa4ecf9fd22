import fc from "fast-check";
import { expect, test } from "vitest";
import { DEVICES, run } from "./run.ts";
import { STEPS } from "./steps.ts";

/** `HOLDFAST_SIM_RUNS=20000 HOLDFAST_SIM_SEED=7 npm run sim` runs longer, or elsewhere. */
const RUNS = Number(process.env.HOLDFAST_SIM_RUNS ?? 2_000);
const SEED = Number(process.env.HOLDFAST_SIM_SEED ?? 20_261_130);

const scripted = fc.record({
  device: fc.nat({ max: DEVICES - 1 }),
  step: fc.oneof(...[...STEPS].map(([name, { weight }]) => ({ weight, arbitrary: fc.constant(name) }))),
});

test(`[H1] [H2] [H3] [H4] [H5] [H6] ${RUNS} worlds of three clients, a relay and a bad network converge, nothing lost or doubled`, async () => {
  let steps = 0;
  const world = fc.asyncProperty(
    fc.nat(),
    fc.array(scripted, { minLength: 5, maxLength: 30 }),
    async (seed, script) => {
      steps += await run(seed, script);
    },
  );
  // A failure names the seed and the shortest script that still fails.
  await fc.assert(world, { numRuns: RUNS, seed: SEED });
  expect(steps).toBeGreaterThan(RUNS * 5);
}, 900_000);
