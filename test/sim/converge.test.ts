import fc from "fast-check";
import { expect, test } from "vitest";
import { DEVICES, run } from "./run.ts";
import { STEPS } from "./steps.ts";

/** `npm run sim -- --runs 20000 --seed 7` sets these, to run longer or elsewhere. */
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
      await run(seed, script);
      steps += script.length;
    },
  );
  // A failure names the seed and the shortest script that still fails.
  await fc.assert(world, { numRuns: RUNS, seed: SEED });
  console.log(`${RUNS} worlds, ${steps} steps, seed ${SEED}`);
  expect(steps).toBeGreaterThan(RUNS * 5);
}, 900_000);

test("[H12] the same seed and script give the same trace, to the byte", async () => {
  const scripts = fc.sample(fc.array(scripted, { minLength: 20, maxLength: 30 }), {
    numRuns: 20,
    seed: SEED,
  });
  for (const [seed, script] of scripts.entries()) {
    const first = await run(seed, script);
    expect(await run(seed, script), `seed ${seed}`).toBe(first);
    expect(await run(seed + 1_000, script)).not.toBe(first);
  }
}, 120_000);
