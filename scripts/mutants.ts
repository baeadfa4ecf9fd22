// Puts each fault of test/mutants.ts into a copy of what is committed, and shows which named test finds it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, mutants } from "../test/mutants.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "holdfast-mutants-"));

interface Report {
  testResults: { assertionResults: { status: string; fullName: string; failureMessages?: string[] }[] }[];
}

/** The names of the tests that fail with it; of the simulation, after how many worlds. */
function found({ file, from, to, project, tests }: Mutant): string[] {
  const path = join(copy, file);
  const sound = readFileSync(path, "utf8");
  if (!sound.includes(from)) throw new Error(`${file} has changed: write this fault anew`);
  writeFileSync(
    path,
    sound.replace(from, () => to),
  );
  const report = join(copy, "mutant.json");
  rmSync(report, { force: true });
  const options = ["--reporter=json", `--outputFile=${report}`, "--testTimeout=60000", "--bail=3"];
  spawnSync("npx", ["vitest", "run", "--project", project, ...tests, ...options], {
    cwd: copy,
    stdio: "ignore",
    env: { ...process.env, HOLDFAST_SIM_SHRINKS: "no" },
  });
  writeFileSync(path, sound);
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  return all
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages = [] }) => {
      const worlds = /Property failed after (\d+) tests/u.exec(failureMessages.join())?.[1];
      return worlds === undefined ? fullName : `${fullName} (${worlds} worlds)`;
    });
}

try {
  spawnSync("git", ["clone", "-q", root, copy], { stdio: "inherit" });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const mutant of mutants) {
    process.stdout.write(`${mutant.what}: `);
    const [first] = found(mutant);
    console.log(first === undefined ? "NOT FOUND" : `found by “${first}”`);
    if (first === undefined) process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
