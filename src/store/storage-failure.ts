import { HoldfastError, StorageError, type StorageErrorReason } from "../model/errors.ts";

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
  for (let inner = error; inner instanceof Error || isDomException(inner); inner = innerOf(inner)) {
    if (inner instanceof HoldfastError) return inner;
    const known = REASONS[inner.name];
    if (known !== undefined && (reason === undefined || reason === "failed" || reason === "closed")) {
      reason = known;
    }
  }
  return reason === undefined ? error : storageError(reason, error);
}

function innerOf(error: object): unknown {
  return "inner" in error ? error.inner : undefined;
}

function isDomException(value: unknown): value is { readonly name: string } {
  return typeof DOMException === "function" && value instanceof DOMException;
}
