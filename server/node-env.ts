import { hash, randomBytes } from "node:crypto";
import { createContext, Script } from "node:vm";
import type { Clock } from "../src/env/clock.ts";
import type { Random } from "../src/env/random.ts";
import type { CommandProcess } from "./command-process.ts";
import { DIGEST_LENGTH, type Digest } from "./digest.ts";
import { type TimeBox, TimeBoxError } from "./time-box.ts";

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

const box: { work: () => unknown } = { work: () => undefined };
const boxContext = createContext(box);
const boxScript = new Script("work()");

/** Costs about 0.2 ms. */
export const nodeTimeBox: TimeBox = <R>(limitMs: number, work: () => R): R => {
  box.work = work;
  try {
    return boxScript.runInContext(boxContext, { timeout: limitMs }) as R;
  } catch (error) {
    if (isTimeout(error)) throw new TimeBoxError(`The limit is ${limitMs} ms`, { cause: error });
    throw error;
  } finally {
    box.work = () => undefined;
  }
};

/** The error may come from the box's own world, and is no `Error` of this one then. */
function isTimeout(error: unknown): boolean {
  const told: { code?: unknown } = typeof error === "object" && error !== null ? error : {};
  return told.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

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
