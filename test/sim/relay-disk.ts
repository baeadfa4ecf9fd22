import type { Answer, RelayStorage, StorageHost, Write } from "../../server/storage/contract.ts";
import { never } from "./mortal.ts";

/** When the relay's process dies: with the op in hand, or once it is durable and nobody has been told. */
export type CrashAt = "before-commit" | "after-commit";

/** What the relay's storage was made to do. */
export type RelayFault = CrashAt | "refused-write" | "broken-write" | "broken-read";

/**
 * The relay's storage under faults. Each process of the relay opens it anew; one that died is never answered again,
 * though what it had committed stands.
 */
export class RelayDisk {
  readonly injected = new Map<RelayFault, number>();
  readonly #inner: RelayStorage;
  readonly #took: (write: Write, answer: Answer) => void;
  #crash: { readonly at: CrashAt; left: number } | undefined;
  #failing = 0;

  /** @param took hears of each write that was decided, in their order, whether or not its answer arrives. */
  constructor(inner: RelayStorage, took: (write: Write, answer: Answer) => void) {
    this.#inner = inner;
    this.#took = took;
  }

  /** The process dies at the n-th write from here on. */
  crashAt(at: CrashAt, n: number): void {
    this.#crash = { at, left: n };
  }

  /** So many calls from here on fail. */
  fail(calls: number): void {
    this.#failing = calls;
  }

  heal(): void {
    this.#failing = 0;
    this.#crash = undefined;
  }

  /** The storage as one process of the relay has it. `die` is called where that process dies. */
  opened(die: () => void): { readonly storage: RelayStorage; readonly kill: () => void } {
    const inner = this.#inner;
    let dead = false;
    const read = <A extends unknown[], R>(call: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) => {
      return async (...args) => {
        if (dead) await never;
        if (this.#fails()) {
          this.#count("broken-read");
          throw new Error("The relay's disk cannot be read");
        }
        const result = await call(...args);
        if (dead) await never;
        return result;
      };
    };
    // Whatever the storage has not committed by now it never will.
    const kill = (): void => {
      if (!dead) void inner.close();
      dead = true;
    };
    const crash = (at: CrashAt): boolean => {
      if (this.#crash?.at !== at) return false;
      this.#crash.left -= 1;
      if (this.#crash.left > 0) return false;
      this.#crash = undefined;
      this.#count(at);
      kill();
      die();
      return true;
    };
    const storage: RelayStorage = {
      open: (host: StorageHost) => inner.open(host),
      // One that is killed closes nothing: the next has opened it by now.
      close: async () => {
        if (!dead) await inner.close();
      },
      apply: async (write) => {
        if (dead || crash("before-commit")) return never;
        if (this.#fails()) return this.#failedWrite(write);
        const answer = await inner.apply(write);
        this.#took(write, answer);
        if (dead || crash("after-commit")) return never;
        return answer;
      },
      position: read((actor) => inner.position(actor)),
      catalog: read((actor, question) => inner.catalog(actor, question)),
      pull: read((place, question) => inner.pull(place, question)),
      readGeneration: read((place, question) => inner.readGeneration(place, question)),
      listGenerations: read((place, most) => inner.listGenerations(place, most)),
      loadState: read((place) => inner.loadState(place)),
      compactState: read((place, compacted) => inner.compactState(place, compacted)),
      inspect: read(() => inner.inspect()),
    };
    return { storage, kill };
  }

  #fails(): boolean {
    if (this.#failing === 0) return false;
    this.#failing -= 1;
    return true;
  }

  /** As the contract says it, or as a storage that throws. */
  #failedWrite(write: Write): Answer {
    const says = this.#failing % 2 === 0;
    this.#count(says ? "refused-write" : "broken-write");
    if (!says) throw new Error(`The relay's disk took no ${write.kind}`);
    return { ok: false, code: "try-again", message: "The storage cannot take this now" };
  }

  #count(fault: RelayFault): void {
    this.injected.set(fault, (this.injected.get(fault) ?? 0) + 1);
  }
}
