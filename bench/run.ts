// npm run bench: three rounds, limit and ours back to back in fresh processes and folders, the order reversed every
// other round; what counts is the ratio within a round. Writes docs/performance.md.
//   --rounds N   --only relay|memory|state|browser   --gate (fails where the median and two thirds of the rounds miss a target)
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { run } from "../scripts/run.ts";
import { browserOwnRows, browserRows, openBrowserBench } from "./browser.ts";
import { churnFigures, churnRows } from "./churn.ts";
import { memoryFigures, memoryOwnRows, memoryRows } from "./memory.ts";
import { type Figures, ownRows, relayFigures, relayRows } from "./rows.ts";
import { type Line, lineOf, type Round, tableOf } from "./table.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    gate: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const busy = loadavg()[0] ?? 0;

async function roundsOf(name: string, measure: (kind: "ref" | "ours") => Promise<Figures>): Promise<Round[]> {
  const found: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const figures: Partial<Record<"ref" | "ours", Figures>> = {};
    for (const kind of round % 2 === 0 ? (["ref", "ours"] as const) : (["ours", "ref"] as const)) {
      const started = performance.now();
      figures[kind] = await measure(kind);
      console.log(
        `${name}, round ${round + 1}, ${kind}: ${Math.round((performance.now() - started) / 1000)} s`,
      );
    }
    found.push({ ours: figures.ours ?? {}, limit: figures.ref ?? {} });
  }
  return found;
}

const lines: Line[] = [];
const sections: string[] = [];
const record = (title: string, made: readonly Line[], note: string) => {
  lines.push(...made);
  sections.push(`## ${title}\n\n${note}\n\n${tableOf(made)}`);
};

if (values.only === undefined || values.only === "relay") {
  if ((await run("npx", ["tsdown", "--log-level", "error"])) !== 0) throw new Error("The build failed.");
  const found = await roundsOf("relay", relayFigures);
  const busiest = Math.max(
    ...found.flatMap(({ ours, limit }) => [ours, limit].map((side) => side.load100x16 ?? 0)),
  );
  record(
    "Relay",
    [...relayRows.map((row) => lineOf(row, found, false)), ...ownRows.map((row) => lineOf(row, found, true))],
    "The limit is `bench/ref/relay.ts` on SQLite with synchronous=FULL. Each person writes from one device and is told on a second one. " +
      `The load generator used at most ${Math.round(busiest * 100)} % of a core${busiest > 0.9 ? ", which is too much: 100 × 16 is limited by it" : ""}.`,
  );
}
if (values.only === undefined || values.only === "memory") {
  const found = [{ limit: await memoryFigures("ref"), ours: await memoryFigures("ours") }];
  record(
    "Memory of the relay",
    [
      ...memoryRows.map((row) => lineOf(row, found, false)),
      ...memoryOwnRows.map((row) => lineOf(row, found, true)),
    ],
    "Measured once: resident memory moves little between runs. Live heap is what the engine holds after a collection.",
  );
}
if (values.only === undefined || values.only === "state") {
  if (values.only === "state" && (await run("npx", ["tsdown", "--log-level", "error"])) !== 0)
    throw new Error("The build failed.");
  const found = [{ limit: {}, ours: await churnFigures() }];
  record(
    "State",
    churnRows.map((row) => lineOf(row, found, true)),
    "Measured once. Each change is an update of its own, sent over one socket and acknowledged as durable.",
  );
}
if (values.only === undefined || values.only === "browser") {
  const bench = await openBrowserBench();
  const found = await roundsOf("browser", (kind) => bench.figures(kind)).finally(() => bench.close());
  record(
    "Browser",
    [
      ...browserRows.map((row) => lineOf(row, found, false)),
      ...browserOwnRows.map((row) => lineOf(row, found, true)),
    ],
    `Chromium with a profile on disk; the limit is raw IndexedDB (\`bench/ref/indexeddb.ts\`). Size is checked by \`npm run size\`.`,
  );
}

const page = `# Performance

Written by \`npm run bench\`, on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}.
One 500-byte JSON message is the unit. Absolute figures move by up to two times between runs of the same machine: **only the
ratios count**, each taken within one round in which both sides ran back to back in fresh processes and folders. Median of
${rounds} rounds, with the smallest and the largest.

Other work on the machine when this run began: ${busy.toFixed(1)} runnable on ${cpus().length} cores${busy > 1 ? ", which is unfair to the side that needs more of them: look at CPU per append, and run it again on a quiet machine" : ""}.
An acknowledgement means the same on both sides: the commit that a power cut survives is done.

${sections.join("\n\n")}
`;
if (values.only === undefined) writeFileSync("docs/performance.md", page);
console.log(page);
const missed = lines.filter((line) => line.missed);
console.log(
  `${lines.length - missed.length} of ${lines.length} targets met; missed: ${missed.map((line) => `${line.id} ${line.what}`).join("; ") || "none"}`,
);
if (values.gate && missed.length > 0) process.exitCode = 1;
