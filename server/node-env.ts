import { hash, randomBytes } from "node:crypto";
import type { Clock } from "../src/env/clock.ts";
import type { Random } from "../src/env/random.ts";
import type { CommandProcess } from "./command-process.ts";
import { DIGEST_LENGTH, type Digest } from "./digest.ts";

// The one file of the relay with the real clock, timers and randomness.

/** Timers do not keep the process alive: its sockets do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = {
  bytes: (length) => new Uint8Array(randomBytes(length)),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
};

/** The same as the portable one, several times as fast. */
export const nodeDigest: Digest = (text) => hash("sha256", text, "base64").slice(0, DIGEST_LENGTH);

/** Runs after all that is ready in this turn of the event loop. */
export function nextTurn(run: () => void): void {
  setImmediate(run);
}

/** Runs when all microtasks of this turn are done. */
export function endOfTurn(run: () => void): void {
  process.nextTick(run);
}

export function writeToStderr(text: string): void {
  process.stderr.write(text);
}

/** This process, as the command line sees it. */
export function commandProcess(): CommandProcess {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    out: (text) => process.stdout.write(text),
    err: writeToStderr,
    nowMs: () => Date.now(),
    untilAsked: () =>
      new Promise((resolve) => {
        for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
      }),
  };
}
