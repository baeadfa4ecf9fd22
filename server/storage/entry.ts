import type { CatalogEntry } from "../../src/wire/catalog.ts";
import type { SessionRow } from "./contract.ts";

/** A session as the catalog tells it (P40). */
export function entryOf(session: string, row: SessionRow): CatalogEntry {
  return {
    session,
    incarnation: row.incarnation,
    deleted: row.deleted,
    head: row.head,
    stateCursor: row.stateCursor,
    metadata: row.metadata,
    archived: row.archived,
    read: row.read,
    updatedAt: new Date(row.updatedAtMs).toISOString(),
    seq: row.seq,
  };
}
