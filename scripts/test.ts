// All tests, by one command: what they need is found or installed first, and the last line says how many passed.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { haveSpin, prepareEngines, requireChromium, requireSqlite } from "./prerequisites.ts";
import { run } from "./run.ts";

const report = "test-results/vitest.json";

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; name: string; assertionResults: unknown[] }[];
}

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
requireSqlite();
process.env.HOLDFAST_CHROMIUM = await requireChromium();
await prepareEngines();
const left = (await haveSpin()) ? [] : ["--exclude", "test/e2e/model.e2e.test.ts"];
mkdirSync("test-results", { recursive: true });
rmSync(report, { force: true });

const code = await run("npx", [
  "vitest",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...left,
  ...process.argv.slice(2),
]);

if (!existsSync(report)) throw new Error("The tests ended without a report.");
const result = JSON.parse(readFileSync(report, "utf8")) as Report;
// A file that could not be loaded has run none of its tests; it counts as one failure, so that it is not silent.
const unloaded = result.testResults.filter(
  (file) => file.status === "failed" && file.assertionResults.length === 0,
);
const failed = result.numFailedTests + unloaded.length;
const skipped = result.numPendingTests + result.numTodoTests;
for (const file of unloaded) console.log(`could not be loaded: ${file.name}`);
console.log(`${result.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 || result.numPassedTests === 0 ? 1 : code;
