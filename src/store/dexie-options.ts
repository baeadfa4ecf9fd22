import type { DexieOptions } from "dexie";
import type { Clock } from "../env/clock.ts";
import type { Page } from "../env/page.ts";
import type { Tabs } from "../env/tabs.ts";
import type { StorageError } from "../model/errors.ts";

/** How long opening a database may take, in milliseconds, and a transaction. */
export const LIMIT_MS = { open: 8_000, transaction: 30_000 } as const;

/** How long a deletion is held up to find out whose it is; and when a connection that the browser took away is looked for. */
export const DELETION_MS = { look: 2_000, reopen: 1_000 } as const;

export interface DexieDatabaseOptions {
  /** The database's name among those of this origin. */
  readonly name: string;
  /** The schema's version, from 1. A database that a higher one has opened is refused. */
  readonly version?: number | undefined;
  /** Tells commits to the other tabs, and theirs to this one. Without it a database hears only of its own. */
  readonly tabs?: Pick<Tabs, "channel"> | undefined;
  /** IndexedDB, where it is not the platform's own. */
  readonly indexedDB?: IDBFactory | undefined;
  /** With one, opening and transactions have a time limit, and storage that goes on failing is left alone for a while. */
  readonly clock?: Clock | undefined;
  /** With one, no transaction stays open while the page is frozen, so that it holds up no other tab. */
  readonly page?: Pick<Page, "watch"> | undefined;
  readonly IDBKeyRange?: typeof IDBKeyRange | undefined;
  /** Told once when the database ends otherwise than by its own `close` or `destroy`; and whether another tab destroyed it. */
  readonly lost?: ((error: StorageError, destroyed: boolean) => void) | undefined;
  /** Told when opening has to wait for a tab that holds an older version open. */
  readonly blocked?: (() => void) | undefined;
}

export function dexieOptions({ indexedDB, IDBKeyRange }: DexieDatabaseOptions): DexieOptions {
  return {
    cache: "disabled",
    ...(indexedDB === undefined ? {} : { indexedDB }),
    ...(IDBKeyRange === undefined ? {} : { IDBKeyRange }),
  };
}
