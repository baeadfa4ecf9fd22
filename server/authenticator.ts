import type { IncomingMessage } from "node:http";
import { HoldfastError } from "../src/model/errors.ts";

/** Whom a token speaks for. */
export interface Identity {
  readonly actorId: string;
  /** When the token ends. The connection then needs a new one. */
  readonly expiresAt?: Date | undefined;
}

/**
 * Decides whom a token speaks for. Refuses by throwing {@link AuthError}; whatever else it throws lets nobody in
 * either, and tells the client to try again: a check that fails says nothing about the token. `request` is absent in a relay without sockets of its own.
 */
export type Authenticator = (
  token: string | undefined,
  request: IncomingMessage | undefined,
) => Promise<Identity>;

/**
 * Why an authenticator refuses: `missing`, `invalid` and `expired` ask the client for another token, `forbidden` tells
 * it to stop, `unavailable` to try again later.
 */
export type AuthErrorReason = "missing" | "invalid" | "expired" | "forbidden" | "unavailable";

/** What an `authenticate` function throws to refuse a token. */
export class AuthError extends HoldfastError {
  override readonly name = "AuthError";
  readonly reason: AuthErrorReason;

  constructor(reason: AuthErrorReason, message?: string, options: { readonly cause?: unknown } = {}) {
    super(message ?? MESSAGES[reason], { ...options, code: "auth" });
    this.reason = reason;
  }
}

const MESSAGES: { readonly [Reason in AuthErrorReason]: string } = {
  missing: "A token is needed",
  invalid: "The token is not valid",
  expired: "The token has expired",
  forbidden: "The token does not allow this",
  unavailable: "The token cannot be checked now",
};
