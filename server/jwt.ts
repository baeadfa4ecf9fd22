import { createPublicKey, type KeyObject } from "node:crypto";
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Clock } from "../src/env/clock.ts";
import { invalidInput } from "../src/model/errors.ts";
import { AuthError, type Authenticator } from "./authenticator.ts";

/** How tokens are checked. One of `secret`, `publicKey` and `jwksUrl`; the actor is the claim `sub`. */
export interface JwtOptions {
  /** For tokens signed with HS256, HS384 or HS512. */
  readonly secret?: string | undefined;
  /** SPKI PEM of an RSA, EC or Ed25519 key. */
  readonly publicKey?: string | undefined;
  /** Where the issuer publishes its keys. */
  readonly jwksUrl?: string | undefined;
  readonly issuer?: string | readonly string[] | undefined;
  readonly audience?: string | readonly string[] | undefined;
}

type Verify = (token: string, options: JWTVerifyOptions) => Promise<{ payload: JWTPayload }>;

const CLOCK_TOLERANCE_S = 5;
const JWKS_TIMEOUT_MS = 5_000;

/** @throws InvalidInputError when the options name no key, several, or none that can be read */
export function jwtAuthenticator(options: JwtOptions, clock: Clock): Authenticator {
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
  const given = [secret, publicKey, jwksUrl].filter((value) => value !== undefined);
  if (given.length !== 1) throw invalidInput("jwt", "must have one of secret, publicKey and jwksUrl");
  if (secret !== undefined) {
    if (secret === "") throw invalidInput("jwt.secret", "must not be empty");
    const key = new TextEncoder().encode(secret);
    return (token, options) => jwtVerify(token, key, { ...options, algorithms: ["HS256", "HS384", "HS512"] });
  }
  if (publicKey !== undefined) {
    const key = readPublicKey(publicKey);
    const algorithms = algorithmsOf(key);
    return (token, options) => jwtVerify(token, key, { ...options, algorithms });
  }
  const keys = createRemoteJWKSet(readUrl(jwksUrl ?? ""), { timeoutDuration: JWKS_TIMEOUT_MS });
  return (token, options) => jwtVerify(token, keys, { ...options, algorithms: [...ASYMMETRIC] });
}

const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const CURVES: { readonly [curve: string]: string } = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};
const EDWARDS = ["EdDSA", "Ed25519"] as const;
const ASYMMETRIC = [...RSA, ...Object.values(CURVES), ...EDWARDS] as const;

function readPublicKey(pem: string): KeyObject {
  if (!pem.includes("BEGIN PUBLIC KEY")) {
    throw invalidInput("jwt.publicKey", "must be a public key in PEM (SPKI)");
  }
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw invalidInput("jwt.publicKey", "could not be read as PEM (SPKI)", { cause: error });
  }
}

function algorithmsOf(key: KeyObject): string[] {
  switch (key.asymmetricKeyType) {
    case "rsa":
      return [...RSA];
    case "ed25519":
      return [...EDWARDS];
    case "ec": {
      const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""];
      if (algorithm !== undefined) return [algorithm];
    }
  }
  throw invalidInput("jwt.publicKey", "must be an RSA, P-256, P-384, P-521 or Ed25519 key");
}

function readUrl(text: string): URL {
  if (!URL.canParse(text)) throw invalidInput("jwt.jwksUrl", "must be a URL");
  return new URL(text);
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
