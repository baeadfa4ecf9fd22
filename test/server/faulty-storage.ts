import type { Absent, Answer, RelayStorage, StateLoaded, Write } from "../../server/storage/contract.ts";

/** What a {@link faultyStorage} is told to do wrong. */
export interface Faults {
  /** Writes that fail before they reach the storage. */
  refuse: (write: Write) => boolean;
  /** Writes that are stored, and whose answer is lost. */
  forget: (write: Write) => boolean;
  /** Reads that fail. */
  failReads: boolean;
  /** Held before each state load; resolves when the load may go on. */
  holdLoads: () => Promise<void>;
  /** State loads so far. */
  loads: number;
}

/** Another storage, as it behaves on a bad day. */
export function faultyStorage(inner: RelayStorage): { storage: RelayStorage; faults: Faults } {
  const faults: Faults = {
    refuse: () => false,
    forget: () => false,
    failReads: false,
    holdLoads: () => Promise.resolve(),
    loads: 0,
  };
  const read = <T>(work: () => Promise<T>): Promise<T> =>
    faults.failReads ? Promise.reject(new Error("The disk cannot be read")) : work();
  const storage: RelayStorage = {
    open: (host) => inner.open(host),
    close: () => inner.close(),
    apply: async (write): Promise<Answer> => {
      if (faults.refuse(write)) throw new Error("The disk cannot be written");
      const answer = await inner.apply(write);
      if (faults.forget(write)) throw new Error("The answer was lost");
      return answer;
    },
    position: (actor) => read(() => inner.position(actor)),
    catalog: (actor, question) => read(() => inner.catalog(actor, question)),
    pull: (place, question) => read(() => inner.pull(place, question)),
    readGeneration: (place, question) => read(() => inner.readGeneration(place, question)),
    listGenerations: (place, maxEntries) => read(() => inner.listGenerations(place, maxEntries)),
    loadState: async (place): Promise<StateLoaded | Absent> => {
      faults.loads += 1;
      await faults.holdLoads();
      return read(() => inner.loadState(place));
    },
    compactState: (place, compacted) => inner.compactState(place, compacted),
    inspect: () => inner.inspect(),
  };
  return { storage, faults };
}
