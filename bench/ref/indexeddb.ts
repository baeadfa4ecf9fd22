// The limit of the browser's database: what it does with nothing on top but the rows themselves.

type Row = { readonly id: string; readonly body: string };
const segmentSize = 100;

function done(request: IDBRequest | IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = () => reject(request.error ?? new Error("IndexedDB failed"));
    if (request instanceof IDBTransaction) {
      request.oncomplete = () => resolve();
      request.onabort = failed;
    } else {
      request.onsuccess = () => resolve();
      request.onerror = failed;
    }
  });
}

export interface RawDatabase {
  /** One transaction for these rows. */
  append(at: number, rows: readonly Row[]): Promise<void>;
  /** The whole log as rows of a hundred messages each, in one transaction. */
  importSegments(rows: readonly Row[]): Promise<void>;
  readSegments(): Promise<number>;
  last(count: number): Promise<number>;
  close(): void;
}

export async function openRaw(name: string): Promise<RawDatabase> {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("rows");
    opening.result.createObjectStore("segments");
  };
  await done(opening);
  const database = opening.result;
  const start = (store: string, mode: IDBTransactionMode) => {
    const transaction = database.transaction(store, mode);
    return { transaction, store: transaction.objectStore(store) };
  };
  return {
    async append(at, rows) {
      const { transaction, store } = start("rows", "readwrite");
      rows.forEach((row, index) => {
        store.put(row, at + index);
      });
      transaction.commit();
      await done(transaction);
    },
    async importSegments(rows) {
      const { transaction, store } = start("segments", "readwrite");
      for (let at = 0; at < rows.length; at += segmentSize) store.put(rows.slice(at, at + segmentSize), at);
      transaction.commit();
      await done(transaction);
    },
    async readSegments() {
      const request = start("segments", "readonly").store.getAll();
      await done(request);
      return (request.result as Row[][]).flat().length;
    },
    async last(count) {
      const { store } = start("rows", "readonly");
      const end = store.openKeyCursor(null, "prev");
      await done(end);
      const lastKey = Number(end.result?.key ?? 0);
      const request = store.getAll(IDBKeyRange.bound(lastKey - count + 1, lastKey));
      await done(request);
      return request.result.length;
    },
    close: () => database.close(),
  };
}
