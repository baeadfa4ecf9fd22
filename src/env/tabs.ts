/** A named broadcast between the tabs of one browser profile; the sender does not hear itself. */
export interface TabChannel {
  post(data: unknown): void;
  close(): void;
}

/** What tabs of one origin share: locks that queue, and channels. */
export interface Tabs {
  /** False where Web Locks are missing: then a tab stands alone, and a lock only queues work within it. */
  readonly locksAvailable: boolean;
  /**
   * Waits in the queue for the exclusive lock, holds it while `work` runs, releases it after.
   * Aborting the signal leaves the queue (the promise rejects) but does not end work that has begun. With `steal` it
   * takes the lock from whoever holds it, whose call then rejects with an AbortError though its work goes on.
   */
  lock<T>(
    name: string,
    work: () => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined; readonly steal?: boolean | undefined },
  ): Promise<T>;
  channel(name: string, received: (data: unknown) => void): TabChannel;
}

/** Tabs of somebody who has none: an own queue for locks, channels that nobody beside it hears. */
export function standaloneTabs(): Tabs {
  const queues = new Map<string, Promise<unknown>>();
  const members = new Set<{ readonly name: string; readonly received: (data: unknown) => void }>();
  return {
    locksAvailable: false,
    lock: (name, work, options = {}) => {
      const before = queues.get(name) ?? Promise.resolve();
      const turn = before.then(() => {
        options.signal?.throwIfAborted();
        return work();
      });
      const settled = turn.then(ignore, ignore);
      queues.set(name, settled);
      void settled.then(() => queues.get(name) === settled && queues.delete(name));
      return options.signal === undefined ? turn : Promise.race([turn, leftBefore(before, options.signal)]);
    },
    channel: (name, received) => {
      const own = { name, received };
      members.add(own);
      return {
        post: (data) => {
          for (const other of members) {
            if (other === own || other.name !== name) continue;
            // Later, as from another tab.
            void Promise.resolve().then(() => {
              if (members.has(other)) other.received(data);
            });
          }
        },
        close: () => members.delete(own),
      };
    },
  };
}

/** Rejects when the signal aborts while the work before still runs; never settles otherwise. */
function leftBefore(before: Promise<unknown>, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    void before.then(() => signal.removeEventListener("abort", leave));
  });
}

function ignore(): void {}
