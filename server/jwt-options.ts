import { invalidInput } from "../src/model/errors.ts";
import { isPlainObject } from "../src/model/json.ts";
import { readPublicKey } from "./jwt-keys.ts";

/** How tokens are checked. One of `secret`, `publicKey` and `jwksUrl`; the actor is the claim `sub`. */
export interface JwtOptions {
  /** For tokens signed with HS256, HS384 or HS512: at least 32 bytes, as RFC 7518 asks. */
  readonly secret?: string | undefined;
  /** SPKI PEM of an RSA, EC or Ed25519 key. */
  readonly publicKey?: string | undefined;
  /** Where the issuer publishes its keys. */
  readonly jwksUrl?: string | undefined;
  readonly issuer?: string | readonly string[] | undefined;
  readonly audience?: string | readonly string[] | undefined;
}

const NAMES: readonly string[] = ["secret", "publicKey", "jwksUrl", "issuer", "audience"];
/** A shorter secret can be found out from one token (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

/** @throws InvalidInputError when they name no key, several, or none that can be read */
export function checkJwtOptions(options: JwtOptions): void {
  const value: unknown = options;
  if (!isPlainObject(value)) throw invalidInput("jwt", "must be an object");
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) throw invalidInput(`jwt.${name}`, "is no option of token checks");
  }
  const { secret, publicKey, jwksUrl } = options;
  const given = Object.entries({ secret, publicKey, jwksUrl }).filter(([, key]) => key !== undefined);
  if (given.length !== 1) throw invalidInput("jwt", "must have one of secret, publicKey and jwksUrl");
  for (const [name, key] of given) {
    if (typeof key !== "string") throw invalidInput(`jwt.${name}`, "must be a text");
  }
  if (secret !== undefined) checkSecret(secret);
  if (publicKey !== undefined) readPublicKey(publicKey);
  if (jwksUrl !== undefined && !/^https?:/.test(URL.canParse(jwksUrl) ? new URL(jwksUrl).protocol : "")) {
    throw invalidInput("jwt.jwksUrl", "must be a URL of http or https");
  }
  for (const name of ["issuer", "audience"] as const) {
    const wanted: unknown = options[name] ?? [];
    const texts: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
    if (!texts.every((text) => typeof text === "string" && text !== "")) {
      throw invalidInput(`jwt.${name}`, "must be a text or a list of texts");
    }
  }
}

/** @throws InvalidInputError when it is too short to sign with */
export function checkSecret(secret: string): void {
  if (Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return;
  throw invalidInput("jwt.secret", `must be at least ${MIN_SECRET_BYTES} bytes long`);
}
