import type { SeededRandom } from "../../src/testing/random.ts";

/** What can go wrong in a transaction, each as browsers have shown it. */
export type Fault =
  /** The connection is found closed when a transaction is asked for. */
  | "closed"
  /** It is closed in the middle: the transaction aborts, the connection ends. */
  | "closed-inside"
  /** A request fails for the server behind is gone. */
  | "server-lost"
  /** The transaction aborts for no reason that is told. */
  | "abort"
  /** No room: the transaction's abort says so, and nothing else. */
  | "quota"
  /** It was committed, and is reported as aborted. */
  | "committed-unsaid"
  /** It was committed, and nothing is ever said of that. */
  | "committed-silent"
  /** It never ends. */
  | "stuck";

/** Those that come at random; one that is committed without a word needs a clock. */
export const FAULTS: readonly Fault[] = [
  "closed",
  "closed-inside",
  "server-lost",
  "abort",
  "quota",
  "committed-unsaid",
  "stuck",
];

/** Faults put into an IndexedDB at its own seam, so that everything above it is the real thing. */
export class FaultyIndexedDb {
  readonly injected = new Map<Fault, number>();
  /** How many of a hundred transactions that write go wrong. */
  rate = 0;
  readonly #random: SeededRandom;
  readonly #faults: readonly Fault[];

  constructor(random: SeededRandom, faults: readonly Fault[] = FAULTS) {
    this.#random = random;
    this.#faults = faults;
  }

  /** The factory, with connections that fail. */
  wrap(factory: IDBFactory): IDBFactory {
    return new Proxy(factory, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const answer: unknown = value.apply(target, args);
          if (name === "open") {
            const request = answer as IDBOpenDBRequest;
            request.addEventListener("success", () => this.#infect(request.result));
          }
          return answer;
        };
      },
    });
  }

  #infect(connection: IDBDatabase): void {
    const begin = connection.transaction.bind(connection);
    connection.transaction = (stores, mode, options) => {
      const fault = mode === "readwrite" ? this.#draw() : undefined;
      if (fault === "closed") {
        end(connection);
        throw new DOMException("The database connection is closing.", "InvalidStateError");
      }
      const transaction = begin(stores, mode, options);
      if (fault !== undefined) spoil(fault, transaction, connection, this.#random.below(3));
      return transaction;
    };
  }

  #draw(): Fault | undefined {
    if (this.#random.below(100) >= this.rate) return undefined;
    const fault = this.#faults[this.#random.below(this.#faults.length)];
    if (fault !== undefined) this.injected.set(fault, (this.injected.get(fault) ?? 0) + 1);
    return fault;
  }
}

/** As a browser does that takes a connection away: its close event comes, nothing can be begun any more. */
function end(connection: IDBDatabase): void {
  connection.close();
  connection.onclose?.(new Event("close"));
}

function spoil(fault: Fault, transaction: IDBTransaction, connection: IDBDatabase, after: number): void {
  if (fault === "committed-unsaid") {
    replaceEnd(transaction, "oncomplete", () => {
      end(connection);
      transaction.onabort?.(new Event("abort"));
    });
    return;
  }
  if (fault === "committed-silent") {
    replaceEnd(transaction, "oncomplete", () => {});
    return;
  }
  if (fault === "stuck") {
    replaceEnd(transaction, "oncomplete", () => {});
    replaceEnd(transaction, "onabort", () => {});
    stop(transaction);
    return;
  }
  let left = after;
  let done = false;
  const spoilt = new WeakSet<IDBObjectStore>();
  const open = transaction.objectStore.bind(transaction);
  transaction.objectStore = (name) => {
    const store = open(name);
    if (spoilt.has(store)) return store;
    spoilt.add(store);
    const put = store.put.bind(store);
    store.put = (value, key) => {
      if (left > 0 || done) {
        left -= 1;
        return put(value, key);
      }
      done = true;
      if (fault === "server-lost") {
        transaction.abort();
        end(connection);
        throw new DOMException(
          "Connection to Indexed Database server lost. Refresh the page to try again",
          "UnknownError",
        );
      }
      const request = put(value, key);
      if (fault === "quota")
        Object.defineProperty(transaction, "error", {
          value: new DOMException("full", "QuotaExceededError"),
        });
      transaction.abort();
      if (fault === "closed-inside") end(connection);
      return request;
    };
    return store;
  };
}

/** Lets none of its requests be answered. */
function stop(transaction: IDBTransaction): void {
  const open = transaction.objectStore.bind(transaction);
  transaction.objectStore = (name) => {
    const store = open(name);
    for (const method of ["get", "put", "delete"] as const) {
      const silent = { addEventListener: () => {}, removeEventListener: () => {} };
      Object.defineProperty(store, method, { value: () => silent });
    }
    return store;
  };
}

/** Whoever sets the handler is told by `instead` in its place. */
function replaceEnd(
  transaction: IDBTransaction,
  handler: "oncomplete" | "onabort",
  instead: () => void,
): void {
  transaction.addEventListener(handler.slice(2), instead);
  Object.defineProperty(transaction, handler, { get: () => null, set: () => {} });
}
