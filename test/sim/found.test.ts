import { expect, test } from "vitest";
import { run } from "./run.ts";

/** Worlds that once failed, by what was wrong, as the shortest script that showed it. "0 append": device 0 appends. */
const FOUND: Record<string, { readonly seed: number; readonly script: string }> = {
  "[H1] an append that was committed was told as failed when its view could not be read": {
    seed: 1_075_156_199,
    script:
      "0 disk-fails, 1 replace, 0 relay-disk-fails, 0 relay-dies-after-commit, 0 die-soon, 0 append, 0 cut",
  },
  "[H10] a session whose first read failed could never be read again": {
    seed: 0,
    script:
      "0 append, 0 disk-fails, 0 second-append, 0 disk-heals, 0 reload, 0 relay-restart, 0 discard-rejected, 0 edit-earlier",
  },
  "[H1] a conversation whose read failed showed what was before, until something else changed": {
    seed: 1_027_052_820,
    script: "0 replace, 0 second-open, 0 disk-fails, 0 time, 0 duplicate, 1 append",
  },
  "[H6] an open document whose read failed lacked what was stored": {
    seed: 1_737_613_922,
    script: "0 disk-fails, 1 edit-earlier, 0 append, 1 state, 0 mark-read",
  },
  "[H6] state that came by a channel and could not be stored was in the document and not on the disk": {
    seed: 230_820_689,
    script: "0 second-append, 0 disk-fails, 1 state, 0 append, 0 checkpoint, 1 reload, 0 second-append",
  },
  "[H2] [H10] an append under way while its session was deleted began the next life, and was told as rejected":
    {
      seed: 0,
      script: "1 slow, 0 side-append, 0 rename, 1 side-append, 0 side-delete, 0 drop, 0 time",
    },
  "[H2] a message whose answer was lost, and that another device kept in a new generation, was shown twice": {
    seed: 412_118_125,
    script:
      "0 relay-dies-after-commit, 0 append-reject, 0 time, 2 die-soon, 2 append-with-state, 0 edit-earlier, 0 time, 0 append, 0 heal, 0 reload",
  },
  "[H6] a rename whose answer was lost was done again over a later one": {
    seed: 1,
    script: "0 relay-dies-after-commit, 1 append-with-state, 0 rename, 1 rename, 0 time, 0 time, 0 time",
  },
};

for (const [what, { seed, script }] of Object.entries(FOUND)) {
  test(`${what}: seed ${seed} holds now`, async () => {
    const steps = script.split(", ").map((one) => {
      const [device = "", step = ""] = one.split(" ");
      return { device: Number(device), step };
    });
    expect(await run(seed, steps)).toMatch(/^[0-9a-f]{64}$/u);
  });
}
