import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Clock } from "../src/env/clock.ts";
import { AuthError, type Authenticator } from "./authenticator.ts";
import { ASYMMETRIC, readPublicKey } from "./jwt-keys.ts";
import { checkJwtOptions, type JwtOptions } from "./jwt-options.ts";

type Verify = (token: string, options: JWTVerifyOptions) => Promise<{ payload: JWTPayload }>;

const CLOCK_TOLERANCE_S = 5;
const JWKS_TIMEOUT_MS = 5_000;

/** @throws InvalidInputError when the options name no key, several, or none that can be read */
export function jwtAuthenticator(options: JwtOptions, clock: Clock): Authenticator {
  checkJwtOptions(options);
  const verify = verifierOf(options);
  const { issuer, audience } = options;
  const expected = {
    ...(issuer === undefined ? {} : { issuer: list(issuer) }),
    ...(audience === undefined ? {} : { audience: list(audience) }),
  };
  return async (token) => {
    if (token === undefined || token === "") throw new AuthError("missing");
    const { sub, exp } = await verify(token, {
      ...expected,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
      requiredClaims: ["sub"],
    }).then(({ payload }) => payload, refuse);
    if (typeof sub !== "string") throw new AuthError("invalid", "The token names no subject");
    return { actorId: sub, ...(exp === undefined ? {} : { expiresAt: new Date(exp * 1000) }) };
  };
}

/** The algorithms are those of the key, never those that the token asks for. */
function verifierOf({ secret, publicKey, jwksUrl }: JwtOptions): Verify {
  if (secret !== undefined) {
    const key = new TextEncoder().encode(secret);
    return (token, options) => jwtVerify(token, key, { ...options, algorithms: ["HS256", "HS384", "HS512"] });
  }
  if (publicKey !== undefined) {
    const { key, algorithms } = readPublicKey(publicKey);
    return (token, options) => jwtVerify(token, key, { ...options, algorithms });
  }
  const keys = createRemoteJWKSet(new URL(jwksUrl ?? ""), { timeoutDuration: JWKS_TIMEOUT_MS });
  return (token, options) => jwtVerify(token, keys, { ...options, algorithms: [...ASYMMETRIC] });
}

function list(value: string | readonly string[]): string[] {
  return typeof value === "string" ? [value] : [...value];
}

function refuse(cause: unknown): never {
  if (cause instanceof errors.JWTExpired) throw new AuthError("expired", undefined, { cause });
  // Not the token's fault: the issuer's keys could not be had.
  if (cause instanceof errors.JWKSTimeout || isFetchFailure(cause)) {
    throw new AuthError("unavailable", undefined, { cause });
  }
  throw new AuthError("invalid", undefined, { cause });
}

function isFetchFailure(error: unknown): boolean {
  if (error instanceof TypeError) return error.message === "fetch failed";
  return error instanceof errors.JOSEError && error.code === "ERR_JOSE_GENERIC";
}
