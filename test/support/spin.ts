import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./source.ts";

/** What a search of the protocol's model found. */
export interface Search {
  /** Different states that were visited. */
  readonly states: number;
  /** The assertion that does not hold, or whatever else was wrong; undefined when every state was visited and is good. */
  readonly fault: string | undefined;
  readonly seconds: number;
}

const MODEL = join(root, "test/spin/protocol.pml");

/** Where to get what the search needs, as a sentence; undefined when all is here. */
export function lackingForSpin(): string | undefined {
  const lacking = ["spin", "gcc"].filter((command) => spawnSync("which", [command]).status !== 0);
  return lacking.length === 0
    ? undefined
    : `${lacking.join(" and ")} not found: install with apt-get install ${lacking.join(" ")}`;
}

/**
 * Visits every state of test/spin/protocol.pml, with these definitions (`OPS=1`, `NO_LEDGER`).
 * @param brief a fault is expected soon: not worth the compiler's optimisation, which takes longer than the search.
 * @throws Error when the search could not be completed, for want of memory or depth.
 */
export async function searchModel(definitions: readonly string[], brief = false): Promise<Search> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-model-"));
  const flags = definitions.map((definition) => `-D${definition}`);
  const started = performance.now();
  try {
    await output("spin", [...flags, "-a", MODEL], folder);
    await output(
      "gcc",
      [
        brief ? "-O0" : "-O2",
        "-w",
        "-DSAFETY",
        "-DCOLLAPSE",
        "-DMEMLIM=6000",
        ...flags,
        "-o",
        "pan",
        "pan.c",
      ],
      folder,
    );
    const told = await output("./pan", ["-n", "-m200000", "-w24"], folder);
    const states = Number(/^\s*(\d+) states, stored/m.exec(told)?.[1]);
    const fault = /^pan:1: (.*)$/m.exec(told)?.[1];
    const complete = fault !== undefined || /errors: 0/.test(told);
    if (!complete || /max search depth too small|out of memory/.test(told) || Number.isNaN(states)) {
      throw new Error(`The search with ${definitions.join(" ")} was not completed:\n${told}`);
    }
    return { states, fault, seconds: (performance.now() - started) / 1_000 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function output(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let told = "";
    child.stdout.on("data", (bytes) => (told += bytes));
    child.stderr.on("data", (bytes) => (told += bytes));
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(told) : reject(new Error(`${command} ended with ${code}:\n${told}`)),
    );
  });
}
