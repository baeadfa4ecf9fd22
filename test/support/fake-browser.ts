import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import type { TabChannel, Tabs } from "../../src/env/tabs.ts";

/** IndexedDB and channels of one imagined browser profile, for databases opened as its tabs. */
export interface FakeBrowser {
  readonly indexedDB: IDBFactory;
  readonly IDBKeyRange: typeof IDBKeyRange;
  readonly tabs: Tabs;
}

export function fakeBrowser(): FakeBrowser {
  const channels = new Map<string, Set<(data: unknown) => void>>();
  const queues = new Map<string, Promise<unknown>>();
  return {
    indexedDB: new IDBFactory(),
    IDBKeyRange,
    tabs: {
      locksAvailable: true,
      lock: (name, work) => {
        const turn = (queues.get(name) ?? Promise.resolve()).then(work, work);
        queues.set(name, turn);
        return turn;
      },
      channel: (name, received): TabChannel => {
        const members = channels.get(name) ?? new Set();
        channels.set(name, members);
        const own = (data: unknown): void => received(data);
        members.add(own);
        return {
          post: (data) => {
            for (const member of members) if (member !== own) member(structuredClone(data));
          },
          close: () => members.delete(own),
        };
      },
    },
  };
}
