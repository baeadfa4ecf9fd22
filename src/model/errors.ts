import type { Revision } from "./revision.ts";

/** Every `code` a {@link HoldfastError} may carry: what to switch on, stable where messages are not. */
export type HoldfastErrorCode =
  | "invalid-input"
  | "invocation"
  | "conflict"
  | "actor-mismatch"
  | "protocol"
  | "storage"
  | "rejected"
  | "connection"
  | "auth"
  | "closed"
  | "limit-reached"
  | "aborted"
  | "unsupported";

/** Options that every error of this library takes. */
export interface ErrorCause {
  /** What led to it, where something did. */
  readonly cause?: unknown;
}

/** The base of all errors that this library throws on purpose. `code` says which kind it is. */
export class HoldfastError extends Error {
  override readonly name: string = "HoldfastError";
  readonly code: HoldfastErrorCode;

  constructor(message: string, options: ErrorCause & { readonly code: HoldfastErrorCode }) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = options.code;
  }
}

/** What a caller passed in cannot be stored or used. Nothing has changed. */
export class InvalidInputError extends HoldfastError {
  override readonly name = "InvalidInputError";
  /** Where the bad value stands, as one would write it: `state.plan.items[3].at`. */
  readonly path: string;

  constructor(message: string, options: ErrorCause & { readonly path: string }) {
    super(message, { ...options, code: "invalid-input" });
    this.path = options.path;
  }
}

/** An {@link InvalidInputError} whose message leads with the path: `metadata.at must be …`. */
export function invalidInput(path: string, problem: string, options: ErrorCause = {}): InvalidInputError {
  return new InvalidInputError(`${path} ${problem}`, { ...options, path });
}

/** The payload of an invocation is unusable, or a field of it that was asked for is. */
export class InvocationError extends HoldfastError {
  override readonly name = "InvocationError";

  constructor(message: string, options: ErrorCause = {}) {
    super(message, { ...options, code: "invocation" });
  }
}

/** A write named a revision that is no longer the session's. Nothing was written; load again and decide anew. */
export class ConflictError extends HoldfastError {
  override readonly name = "ConflictError";
  /** The revision the write was computed from. */
  readonly expected: Revision;
  /** The revision the store holds. */
  readonly actual: Revision;

  constructor(
    message: string | undefined,
    options: ErrorCause & { readonly expected: Revision; readonly actual: Revision },
  ) {
    super(message ?? "Session changed while it was being updated", { ...options, code: "conflict" });
    this.expected = Object.freeze({ generation: options.expected.generation, count: options.expected.count });
    this.actual = Object.freeze({ generation: options.actual.generation, count: options.actual.count });
  }
}

/** The session belongs to another actor, or to none. The message says no more than that (H8). */
export class ActorMismatchError extends HoldfastError {
  override readonly name = "ActorMismatchError";

  constructor(message = "Session actor does not match", options: ErrorCause = {}) {
    super(message, { ...options, code: "actor-mismatch" });
  }
}

/** A store or a peer answered something that the contract does not allow. */
export class ProtocolError extends HoldfastError {
  override readonly name = "ProtocolError";

  constructor(message: string, options: ErrorCause = {}) {
    super(message, { ...options, code: "protocol" });
  }
}

/**
 * Why storage failed: `quota` no room left · `blocked` another tab holds the old version open · `unavailable` there is
 * no such storage here · `timeout` it never answered · `reset` it was deleted from outside · `upgrade-required` it was
 * written by newer code · `corrupt` it holds what cannot be read · `closed` it was closed before · `failed` anything else.
 */
export type StorageErrorReason =
  | "quota"
  | "blocked"
  | "unavailable"
  | "timeout"
  | "reset"
  | "upgrade-required"
  | "corrupt"
  | "closed"
  | "failed";

/** Local or relay storage could not do what was asked; what was stored before stands. */
export class StorageError extends HoldfastError {
  override readonly name = "StorageError";
  readonly reason: StorageErrorReason;

  constructor(message: string, options: ErrorCause & { readonly reason: StorageErrorReason }) {
    super(message, { ...options, code: "storage" });
    this.reason = options.reason;
  }
}

/** The relay can never accept this op. It is kept among the rejected, with the same reason (H10). */
export class RejectedError extends HoldfastError {
  override readonly name = "RejectedError";
  /** The code of the fault the relay answered with, or of the limit that refused it here. */
  readonly reason: string;

  constructor(message: string, options: ErrorCause & { readonly reason: string }) {
    super(message, { ...options, code: "rejected" });
    this.reason = options.reason;
  }
}

/** The relay could not be reached, or ended the connection. */
export class ConnectionError extends HoldfastError {
  override readonly name = "ConnectionError";
  /** Whether the client goes on trying by itself. */
  readonly retryable: boolean;

  constructor(message: string, options: ErrorCause & { readonly retryable: boolean }) {
    super(message, { ...options, code: "connection" });
    this.retryable = options.retryable;
  }
}
