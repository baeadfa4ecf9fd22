import { jsonEquals } from "../model/json.ts";
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

/** The first pages of the live catalog. Entries that have not changed are the same objects as before. */
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
    const known = new Map(this.live.current().value?.entries.map((entry) => [entry.id, entry]));
    const kept = onceEach(entries).map((entry) => {
      const held = known.get(entry.id);
      return held !== undefined && sameEntry(held, entry) ? held : entry;
    });
    return { entries: kept, hasMore: before !== undefined };
  }
}

function sameEntry(a: SessionEntry, b: SessionEntry): boolean {
  return (
    a.title === b.title &&
    a.preview === b.preview &&
    a.count === b.count &&
    a.unread === b.unread &&
    a.pending === b.pending &&
    a.updatedAt === b.updatedAt &&
    a.archived === b.archived &&
    jsonEquals(a.metadata, b.metadata)
  );
}

/** A session that moved to the top between two pages is in both: the first sight of it is the newer one. */
function onceEach(entries: readonly SessionEntry[]): readonly SessionEntry[] {
  const byId = new Map<string, SessionEntry>();
  for (const entry of entries) if (!byId.has(entry.id)) byId.set(entry.id, entry);
  return [...byId.values()];
}
