import type { Clock } from "../env/clock.ts";

/** So many failures in a row are borne before calls are refused without being tried. */
const BORNE = 3;
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;

/**
 * Keeps a failing storage from being asked in a loop: after three failures in a row it rests, 250 ms and then twice as
 * long each time, up to 30 s. The first call after a rest is the probe; one success closes it again.
 */
export class CircuitBreaker {
  readonly #clock: Clock | undefined;
  #failures = 0;
  #restsUntilMs = 0;
  #last: unknown;

  /** Without a clock it never rests. */
  constructor(clock: Clock | undefined) {
    this.#clock = clock;
  }

  /**
   * Lets a call begin, and gives what `failed` is told of it.
   * @throws the last failure while it rests.
   */
  check(): number {
    if (this.#clock !== undefined && this.#failures >= BORNE) {
      const leftMs = this.#restsUntilMs - this.#clock.now();
      // A clock that jumped back does not prolong it.
      if (leftMs > 0 && leftMs <= LONGEST_REST_MS) throw this.#last;
    }
    return this.#failures;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Calls that were under way together and failed together are one failure, or a burst of them would mean a long rest. */
  failed(begun: number, error: unknown): void {
    this.#last = error;
    if (begun !== this.#failures) return;
    this.#failures += 1;
    const rest = FIRST_REST_MS * 2 ** Math.max(0, this.#failures - BORNE);
    this.#restsUntilMs = (this.#clock?.now() ?? 0) + Math.min(LONGEST_REST_MS, rest);
  }
}
