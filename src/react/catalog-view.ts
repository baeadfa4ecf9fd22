import { type Catalog, MAX_ENTRIES, type SessionEntry } from "../sync/catalog.ts";
import { LiveRead } from "./live-read.ts";

/** What can be done with sessions; every change works offline and resolves when it is durable here. */
export type SessionActions = Pick<
  Catalog,
  "create" | "rename" | "archive" | "delete" | "markRead" | "search"
>;

export interface CatalogPages {
  readonly entries: readonly SessionEntry[];
  readonly hasMore: boolean;
}

/** The first pages of the live catalog: as many entries as were asked for, always from one moment on top. */
export class CatalogView {
  readonly live: LiveRead<CatalogPages>;
  /** Free of `this`, so that an application may take them apart. */
  readonly actions: SessionActions;
  readonly #catalog: Pick<Catalog, keyof Catalog>;
  readonly #step: number;
  #wanted: number;

  constructor(catalog: Pick<Catalog, keyof Catalog>, step: number) {
    this.#catalog = catalog;
    this.#step = step;
    this.#wanted = step;
    this.actions = {
      create: (id) => catalog.create(id),
      rename: (id, title) => catalog.rename(id, title),
      archive: (id, on) => catalog.archive(id, on),
      delete: (id) => catalog.delete(id),
      markRead: (id, count) => catalog.markRead(id, count),
      search: (text) => catalog.search(text),
    };
    this.live = new LiveRead(
      (changed) => catalog.subscribe(changed),
      () => this.#read(this.#wanted),
    );
  }

  /** Shows one step more; resolves when it shows. */
  readonly loadMore = (): Promise<void> => {
    const { value } = this.live.current();
    if (value?.hasMore !== true) return Promise.resolve();
    this.#wanted = value.entries.length + this.#step;
    return this.live.refresh();
  };

  async #read(wanted: number): Promise<CatalogPages> {
    const entries: SessionEntry[] = [];
    let before: string | undefined;
    do {
      const limit = Math.min(MAX_ENTRIES, wanted - entries.length);
      const page = await this.#catalog.list(before === undefined ? { limit } : { limit, before });
      entries.push(...page.entries);
      before = page.next;
    } while (before !== undefined && entries.length < wanted);
    return { entries: onceEach(entries), hasMore: before !== undefined };
  }
}

/** A session that moved to the top between two pages is in both: the first sight of it is the newer one. */
function onceEach(entries: readonly SessionEntry[]): readonly SessionEntry[] {
  const byId = new Map<string, SessionEntry>();
  for (const entry of entries) if (!byId.has(entry.id)) byId.set(entry.id, entry);
  return [...byId.values()];
}
