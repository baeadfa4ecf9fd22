import type { Clock } from "../env/clock.ts";
import type { TabChannel, Tabs } from "../env/tabs.ts";

interface LockRequest {
  readonly tab: TestTab;
  readonly grant: () => void;
  /** The lock was taken away by another. */
  readonly stolen: () => void;
}
interface OpenChannel {
  readonly tab: TestTab;
  readonly received: (data: unknown) => void;
}

/** One simulated browser profile: the tabs opened from it share locks and channels. */
export class TestTabs {
  readonly #clock: Clock;
  // The first request of a queue holds the lock.
  readonly #queues = new Map<string, LockRequest[]>();
  readonly #channels = new Map<string, Set<OpenChannel>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `locks: false`: a browser without Web Locks. */
  open(options: { readonly locks?: boolean } = {}): TestTab {
    return new TestTab(this, options.locks ?? true);
  }

  /** @internal */
  request(name: string, request: LockRequest): void {
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    queue.push(request);
    if (queue.length === 1) request.grant();
  }

  /** @internal Takes the lock from whoever holds it. */
  steal(name: string, request: LockRequest): void {
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    const holder = queue.shift();
    queue.unshift(request);
    holder?.stolen();
    request.grant();
  }

  /** @internal Leaves the queue; when it held the lock the next one gets it. */
  release(name: string, request: LockRequest): void {
    const queue = this.#queues.get(name) ?? [];
    const at = queue.indexOf(request);
    if (at < 0) return;
    queue.splice(at, 1);
    if (at === 0) queue[0]?.grant();
  }

  /** @internal */
  join(name: string, channel: OpenChannel): TabChannel {
    const members = this.#channels.get(name) ?? new Set();
    this.#channels.set(name, members);
    members.add(channel);
    return {
      post: (data) => {
        if (!members.has(channel)) return;
        const copy: unknown = structuredClone(data);
        for (const other of members) {
          if (other === channel) continue;
          this.#clock.after(0, () => {
            other.tab.whenAwake(() => {
              if (members.has(other)) other.received(structuredClone(copy));
            });
          });
        }
      },
      close: () => {
        members.delete(channel);
      },
    };
  }

  /** @internal */
  forget(tab: TestTab): void {
    for (const members of this.#channels.values()) {
      for (const channel of [...members]) if (channel.tab === tab) members.delete(channel);
    }
    for (const [name, queue] of this.#queues) {
      // From the back, so that a lock does not pass through the requests of the same dead tab.
      for (const request of [...queue].reverse()) if (request.tab === tab) this.release(name, request);
    }
  }
}

/** One tab of a {@link TestTabs}. */
export class TestTab implements Tabs {
  readonly locksAvailable: boolean;
  readonly #profile: TestTabs;
  #dead = false;
  #frozen = false;
  readonly #held: (() => void)[] = [];

  constructor(profile: TestTabs, locksAvailable: boolean) {
    this.#profile = profile;
    this.locksAvailable = locksAvailable;
  }

  lock<T>(
    name: string,
    work: () => Promise<T>,
    options: { readonly signal?: AbortSignal | undefined; readonly steal?: boolean | undefined } = {},
  ): Promise<T> {
    const { signal, steal = false } = options;
    return new Promise<T>((resolve, reject) => {
      // A dead tab's promises never settle, as nothing runs there any more.
      if (this.#dead) return;
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const request: LockRequest = {
        tab: this,
        stolen: () => this.whenAwake(() => reject(new DOMException("The lock was stolen", "AbortError"))),
        grant: () => {
          signal?.removeEventListener("abort", leave);
          void this.#awake()
            .then(work)
            .then(resolve, reject)
            .finally(() => this.#profile.release(name, request));
        },
      };
      const leave = (): void => {
        this.#profile.release(name, request);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      if (steal) this.#profile.steal(name, request);
      else this.#profile.request(name, request);
    });
  }

  channel(name: string, received: (data: unknown) => void): TabChannel {
    return this.#profile.join(name, { tab: this, received });
  }

  /**
   * The tab hears nothing from the others and gets no lock, until it is thawed. Its timers and its sockets belong to its
   * clock and its cable: where they go on, it is a tab that does not know that it was left behind.
   */
  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    for (const work of this.#held.splice(0)) work();
  }

  /** @internal */
  whenAwake(work: () => void): void {
    if (this.#frozen) this.#held.push(work);
    else work();
  }

  #awake(): Promise<void> {
    return new Promise((resolve) => this.whenAwake(resolve));
  }

  /** The tab is gone: its locks pass on, its channels are closed, its place in queues is lost. */
  kill(): void {
    this.#dead = true;
    this.#profile.forget(this);
  }
}
