import type { Clock } from "../env/clock.ts";

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** Lets everything that is ready to run run: all microtasks, and what they make ready. */
export type Settle = () => Promise<void>;

/** Where a {@link TestClock} begins, and how it waits for code under test. */
export interface TestClockOptions {
  /** What the clock says first, in milliseconds since 1970. 2025-01-01T00:00:00Z by default. */
  readonly nowMs?: number | undefined;
  /**
   * Runs between timers until the code under test is quiet. By default one turn of the event loop, which drains
   * every chain of promises; a test whose code waits for more (a database of its own) gives something longer.
   */
  readonly settle?: Settle | undefined;
}

/** A clock that stands still until a test moves it. The same moves give the same order of events, every time. */
export class TestClock implements Clock {
  readonly #settle: Settle;
  // Timers run by time passed, so that a jump of the wall clock neither fires nor delays them.
  readonly #timers: Timer[] = [];
  #passedMs = 0;
  #wallMs: number;

  constructor(options: TestClockOptions = {}) {
    this.#wallMs = options.nowMs ?? Date.UTC(2025, 0, 1);
    this.#settle = options.settle ?? oneTurn;
  }

  now(): number {
    return this.#wallMs;
  }

  after(delayMs: number, fire: () => void): () => void {
    const timer: Timer = { dueMs: this.#passedMs + Math.max(0, delayMs), fire };
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1]?.dueMs ?? 0) > timer.dueMs) at -= 1;
    this.#timers.splice(at, 0, timer);
    return () => {
      const found = this.#timers.indexOf(timer);
      if (found >= 0) this.#timers.splice(found, 1);
    };
  }

  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Milliseconds until the next timer; undefined when none waits. */
  get nextInMs(): number | undefined {
    const next = this.#timers[0];
    return next === undefined ? undefined : next.dueMs - this.#passedMs;
  }

  /**
   * Moves time on by `ms`, stopping at each timer that comes due on the way, also at those set meanwhile. Timers
   * due at one moment fire in the order they were set; between any two everything that is ready runs.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#passedMs + ms;
    await this.#settle();
    for (let next = this.#timers[0]; next !== undefined && next.dueMs <= untilMs; next = this.#timers[0]) {
      this.#timers.shift();
      this.#pass(next.dueMs);
      next.fire();
      await this.#settle();
    }
    this.#pass(untilMs);
  }

  /** Advances from timer to timer until `done` holds. Throws when it does not within `limitMs`. */
  async until(done: () => boolean, limitMs = 60_000): Promise<void> {
    const endMs = this.#passedMs + limitMs;
    await this.advance(0);
    while (!done()) {
      const stepMs = this.nextInMs;
      if (stepMs === undefined || this.#passedMs + stepMs > endMs) {
        throw new Error(`Not so after ${limitMs} ms of the test's clock: ${done}`);
      }
      await this.advance(stepMs);
    }
  }

  /** Sets the wall clock forward or back, as a user or a time server does. No time passes and no timer fires. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  #pass(untilMs: number): void {
    this.#wallMs += untilMs - this.#passedMs;
    this.#passedMs = untilMs;
  }
}

function oneTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
