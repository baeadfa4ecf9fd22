import { expect, test } from "vitest";
import { run } from "./run.ts";

const RUNS = Number(process.env.HOLDFAST_SIM_RUNS ?? 2_000);
const FIRST_SEED = Number(process.env.HOLDFAST_SIM_SEED ?? 1);

test(`[H1] [H2] [H5] [H6] ${RUNS} worlds of three clients, a relay and a bad network converge with nothing lost or doubled`, async () => {
  let steps = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    if (process.env.DBG) process.stderr.write(`${seed} `);
    steps += await run(seed);
  }
  expect(steps).toBeGreaterThan(RUNS);
}, 600_000);
