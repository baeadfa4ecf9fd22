import type { LocalDatabase, Reader, Writer } from "../../src/store/database.ts";
import type { SyncRows } from "../../src/store/sync-rows.ts";

export interface Counts {
  read: number;
  written: number;
}

/** A database that counts the rows that go through it. */
export function counting(
  db: LocalDatabase<SyncRows>,
  counts: Counts,
  failing: () => boolean = () => false,
): LocalDatabase<SyncRows> {
  return {
    read: (tables, work) => db.read(tables, (tx) => work(readerOf(tx, counts))),
    write: (tables, work) =>
      db.write(tables, async (tx) => {
        const result = await work(writerOf(tx, counts));
        // As a full disk does it: at the commit, with everything in vain.
        if (failing()) throw new DiskFullError();
        return result;
      }),
    watch: (listener) => db.watch(listener),
    close: () => db.close(),
    destroy: () => db.destroy(),
  };
}

export class DiskFullError extends Error {}

function readerOf(tx: Reader<SyncRows>, counts: Counts): Reader<SyncRows> {
  return {
    get: async (table, key) => {
      counts.read += 1;
      return tx.get(table, key);
    },
    list: async (table, range) => {
      const rows = await tx.list(table, range);
      counts.read += rows.length;
      return rows;
    },
  };
}

function writerOf(tx: Writer<SyncRows>, counts: Counts): Writer<SyncRows> {
  return {
    ...readerOf(tx, counts),
    put: (table, row) => {
      counts.written += 1;
      return tx.put(table, row);
    },
    delete: (table, key) => {
      counts.written += 1;
      return tx.delete(table, key);
    },
    deleteRange: (table, range) => {
      counts.written += 1;
      return tx.deleteRange(table, range);
    },
  };
}
