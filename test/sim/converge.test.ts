import fc from "fast-check";
import { expect, test } from "vitest";
import { DEVICES, injected, run } from "./run.ts";
import { STEPS } from "./steps.ts";

/** `npm run sim -- --runs 20000 --seed 7` sets these, to run longer or elsewhere. */
const RUNS = Number(process.env.HOLDFAST_SIM_RUNS ?? 1_000);
const SEED = Number(process.env.HOLDFAST_SIM_SEED ?? 20_261_201);
const MOST_STEPS = Number(process.env.HOLDFAST_SIM_STEPS ?? 30);
/** The suite stops here, however many worlds there were. By hand there is no limit. */
const LIMIT_MS = process.env.HOLDFAST_SIM_RUNS === undefined ? 75_000 : undefined;
/** Whether a failure looks for its shortest script. */
const SHRINKS = process.env.HOLDFAST_SIM_SHRINKS !== "no";

const scripted = fc.record({
  device: fc.nat({ max: DEVICES - 1 }),
  step: fc.oneof(...[...STEPS].map(([name, { weight }]) => ({ weight, arbitrary: fc.constant(name) }))),
});

test(`[H1] [H2] [H3] [H4] [H5] [H6] [H7] [H10] worlds of three clients, a relay, disks and a network that all fail: nothing lost or doubled, and all converge`, async () => {
  let worlds = 0;
  let steps = 0;
  const world = fc.asyncProperty(
    fc.nat(),
    fc.array(scripted, { minLength: 5, maxLength: MOST_STEPS }),
    async (seed, script) => {
      await run(seed, script);
      worlds += 1;
      steps += script.length;
    },
  );
  const limit = LIMIT_MS === undefined ? {} : { interruptAfterTimeLimit: LIMIT_MS };
  // A failure names the seed and the shortest script that still fails.
  await fc.assert(world, { numRuns: RUNS, seed: SEED, endOnFailure: !SHRINKS, ...limit });
  const faults = [...injected]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([fault, times]) => `${times} ${fault}`);
  console.log(`${worlds} worlds, ${steps} steps, seed ${SEED}; ${faults.join(", ")}`);
  expect(steps).toBeGreaterThan(worlds * 5);
  // Fewer than these would be a suite that waits, or a machine that does nothing else.
  expect(worlds).toBeGreaterThanOrEqual(Math.min(RUNS, 200));
}, 36_000_000);

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
