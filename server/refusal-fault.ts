import type { FaultCode } from "../src/wire/fault.ts";
import { AuthError, type AuthErrorReason } from "./authenticator.ts";
import type { FaultTold } from "./relay-frames.ts";

/** What a connection is told when it cannot be let in (rules P4, P5). An error nobody foresaw says nothing about the token: it lets nobody in, and the client comes again with the same one. */
export function faultOfRefusal(error: unknown): FaultTold {
  if (!(error instanceof AuthError)) return { code: "try-again", message: "The token cannot be checked now" };
  return { code: CODES[error.reason], message: error.message };
}

const CODES: { readonly [Reason in AuthErrorReason]: FaultCode } = {
  missing: "unauthenticated",
  invalid: "unauthenticated",
  expired: "unauthenticated",
  forbidden: "forbidden",
  unavailable: "try-again",
};
