import type { Clock } from "../src/env/clock.ts";
import type { Reporter } from "../src/env/reporter.ts";
import { within } from "../src/env/within.ts";
import { StorageError } from "../src/model/errors.ts";
import type { RelayStorage } from "./storage/contract.ts";

/** An answer stands for so long: whoever asks more often costs the storage nothing. */
const ANSWER_STANDS_MS = 1_000;
/** A storage that takes longer is not ready, even if it succeeds in the end. */
const PROBE_TIMEOUT_MS = 2_000;

/** Whether a relay can take work: its storage commits a write now, and it is not going down. */
export class Readiness {
  readonly #storage: RelayStorage;
  readonly #clock: Clock;
  readonly #reporter: Reporter;
  #asked: { readonly atMs: number; readonly answer: Promise<boolean> } | undefined;
  #was = true;
  #ended = false;

  constructor(storage: RelayStorage, { clock, reporter }: { clock: Clock; reporter: Reporter }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  /** Never rejects. */
  async ready(): Promise<boolean> {
    if (this.#ended) return false;
    const nowMs = this.#clock.now();
    const { atMs = 0, answer } = this.#asked ?? {};
    // A wall clock that was put back must not keep an old answer.
    if (answer !== undefined && nowMs >= atMs && nowMs - atMs < ANSWER_STANDS_MS) return answer;
    this.#asked = { atMs: nowMs, answer: this.#probe() };
    return this.#asked.answer;
  }

  /** The relay is going down: from here on it is not. */
  end(): void {
    this.#ended = true;
  }

  async #probe(): Promise<boolean> {
    const late = (): never => {
      throw new StorageError("The storage took too long", { reason: "blocked" });
    };
    try {
      // What it answers in the end, once it is late, nobody hears.
      await within(this.#clock, PROBE_TIMEOUT_MS, this.#work(), late);
      if (!this.#was) this.#reporter.report("info", "storage-works-again");
      this.#was = true;
    } catch (error) {
      if (this.#was) this.#reporter.report("error", "storage-fails", { error: String(error) });
      this.#was = false;
    }
    return this.#was;
  }

  async #work(): Promise<void> {
    if (this.#storage.probe === undefined) await this.#storage.position("");
    else await this.#storage.probe();
  }
}
