/** What a page has asked of IndexedDB. */
export interface IndexedDbCounts {
  /** Rows handed out, one by one or in lists. */
  rows: number;
  /** Messages in those rows. */
  messages: number;
  /** Puts, adds, deletes and clears. */
  writes: number;
}

declare global {
  interface Window {
    indexedDbCounts: IndexedDbCounts;
  }
}

/** To be run in a page before its own scripts: counts what any library there reads and writes. Refers to nothing outside. */
export function countIndexedDb(): void {
  const counts = { rows: 0, messages: 0, writes: 0 };
  window.indexedDbCounts = counts;
  const countRow = (row: unknown): void => {
    counts.rows += 1;
    const value = row instanceof IDBCursorWithValue ? row.value : row;
    if (typeof value === "object" && value !== null && Array.isArray(value.messages))
      counts.messages += value.messages.length;
  };
  const countResult = (request: IDBRequest): void => {
    const { result } = request;
    if (Array.isArray(result)) for (const row of result) countRow(row);
    else if (result !== undefined && result !== null) countRow(result);
  };
  const wrap = (owner: object, name: string, onCall: (request: IDBRequest) => void): void => {
    const own = Object.getOwnPropertyDescriptor(owner, name);
    if (own === undefined) return;
    const original = own.value;
    Object.defineProperty(owner, name, {
      ...own,
      value(...args: unknown[]) {
        const request = original.apply(this, args);
        onCall(request);
        return request;
      },
    });
  };
  for (const name of [
    "get",
    "getKey",
    "getAll",
    "getAllKeys",
    "getAllRecords",
    "openCursor",
    "openKeyCursor",
    "count",
  ])
    for (const owner of [IDBObjectStore.prototype, IDBIndex.prototype])
      wrap(owner, name, (request) => request.addEventListener("success", () => countResult(request)));
  const countWrite = (): void => {
    counts.writes += 1;
  };
  for (const name of ["put", "add", "delete", "clear"]) wrap(IDBObjectStore.prototype, name, countWrite);
  for (const name of ["update", "delete"]) wrap(IDBCursor.prototype, name, countWrite);
}
