// Worlds without end: `npm run sim -- --runs 20000`, `--minutes 30`, `--seed 7`. Each batch has a seed of its own; one that
// fails prints it, with the shortest script that still fails.
import { parseArgs } from "node:util";
import { run } from "./run.ts";

const { values } = parseArgs({
  options: { runs: { type: "string" }, minutes: { type: "string" }, seed: { type: "string" } },
});
const whole = (name: "runs" | "minutes" | "seed", otherwise: number): number => {
  const number = values[name] === undefined ? otherwise : Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} must be a whole number`);
  return number;
};
const BATCH = 1_000;
const endless = Number.MAX_SAFE_INTEGER;
const runs = whole("runs", values.minutes === undefined ? 10_000 : endless);
const endMs = values.minutes === undefined ? endless : Date.now() + whole("minutes", 1) * 60_000;
const firstSeed = whole("seed", Math.floor(Date.now() / 1_000));

for (let done = 0, seed = firstSeed; done < runs && Date.now() < endMs; seed += 1) {
  const batch = Math.min(BATCH, runs - done);
  const env = { ...process.env, HOLDFAST_SIM_RUNS: String(batch), HOLDFAST_SIM_SEED: String(seed) };
  const code = await run(
    "npx",
    ["vitest", "run", "--project", "node", "test/sim/converge", "--silent=false"],
    { env },
  );
  if (code !== 0) {
    console.log(`failed: npm run sim -- --runs ${batch} --seed ${seed}`);
    process.exit(1);
  }
  done += batch;
  const left = runs === endless ? "" : ` of ${runs.toLocaleString("en")}`;
  console.log(`${done.toLocaleString("en")}${left} worlds, seeds ${firstSeed} to ${seed}: none failed`);
}
