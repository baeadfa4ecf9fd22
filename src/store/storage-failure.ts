import { HoldfastError, StorageError, type StorageErrorReason } from "../model/errors.ts";

/** Words by which engines tell apart what they call by one name. Looked at before the names. */
const MESSAGES_KNOWN: readonly { readonly says: RegExp; readonly reason: StorageErrorReason }[] = [
  // Firefox in a private window of an older version.
  { says: /did not allow mutations/i, reason: "unavailable" },
  // Chromium, when the files cannot be read.
  { says: /internal error (opening backing store|reading|accessing|retrieving)|corrupt/i, reason: "corrupt" },
];

/**
 * What the browser does to a transaction without anything being wrong with it: it took the connection away (phones do it
 * to pages in the background, all do it to an origin that they evict) or failed inside. Done again, it may go well.
 */
const PASSING: ReadonlySet<string> = new Set([
  "AbortError",
  "DatabaseClosedError",
  "OpenFailedError",
  "TransactionInactiveError",
  "UnknownError",
]);
const CLOSING = /clos(ing|ed)|lost/i;

/** Names of IndexedDB's and Dexie's own errors, and what they mean for the caller. */
const REASONS: Readonly<Record<string, StorageErrorReason>> = {
  QuotaExceededError: "quota",
  MissingAPIError: "unavailable",
  SecurityError: "unavailable",
  VersionError: "upgrade-required",
  TimeoutError: "timeout",
  DatabaseClosedError: "closed",
  AbortError: "failed",
  ConstraintError: "failed",
  DataCloneError: "failed",
  DataError: "failed",
  InternalError: "failed",
  InvalidStateError: "failed",
  InvalidTableError: "failed",
  NotFoundError: "failed",
  OpenFailedError: "failed",
  PrematureCommitError: "failed",
  ReadOnlyError: "failed",
  SubTransactionError: "failed",
  TransactionInactiveError: "failed",
  UnknownError: "failed",
};

const MESSAGES: Readonly<Record<StorageErrorReason, string>> = {
  quota: "There is no room left on this device",
  blocked: "Another tab holds an older version of the database open",
  unavailable: "This browser does not let the page store anything",
  timeout: "The browser's storage does not answer",
  reset: "The database was deleted",
  "upgrade-required": "The database was written by a newer version of this page: reload",
  corrupt: "The database holds what cannot be read",
  closed: "The database is closed",
  failed: "The browser's storage failed",
};

export function storageError(reason: StorageErrorReason, cause?: unknown): StorageError {
  return new StorageError(MESSAGES[reason], cause === undefined ? { reason } : { reason, cause });
}

/**
 * What an error of IndexedDB or Dexie means, as a {@link StorageError} with the original as its cause. Errors of the
 * caller's own come back unchanged. Quota hides inside of other errors, so the innermost known name counts.
 */
export function translateFailure(error: unknown): unknown {
  let reason: StorageErrorReason | undefined;
  for (let inner = error; isError(inner); inner = innerOf(inner)) {
    if (inner instanceof HoldfastError) return inner;
    const { name, message } = inner;
    const known =
      REASONS[name] && (MESSAGES_KNOWN.find(({ says }) => says.test(message))?.reason ?? REASONS[name]);
    if (known !== undefined && (reason === undefined || reason === "failed" || reason === "closed")) {
      reason = known;
    }
  }
  return reason === undefined ? error : storageError(reason, error);
}

/**
 * Whether it is the storage that failed, and not what was asked of it: worth doing once more over a new connection.
 */
export function isPassing(error: unknown): boolean {
  let passing = false;
  for (let inner = error; isError(inner); inner = innerOf(inner)) {
    if (inner instanceof HoldfastError) return isTimeout(inner);
    if (inner.name === "QuotaExceededError") return false;
    passing ||=
      PASSING.has(inner.name) || (inner.name === "InvalidStateError" && CLOSING.test(inner.message));
  }
  return passing;
}

/** Whether it is our own verdict that the storage does not answer. */
export function isTimeout(error: unknown): boolean {
  return error instanceof StorageError && error.reason === "timeout";
}

/** Whether a failure, as it was told, is one of the storage itself: then it is counted. */
export function isTrouble(told: unknown): boolean {
  return isTimeout(told) || (told instanceof StorageError && isPassing(told.cause));
}

function innerOf(error: object): unknown {
  return "inner" in error ? error.inner : undefined;
}

function isError(value: unknown): value is { readonly name: string; readonly message: string } {
  return value instanceof Error || (typeof DOMException === "function" && value instanceof DOMException);
}
