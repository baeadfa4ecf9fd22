import { createPublicKey, type KeyObject } from "node:crypto";
import { invalidInput } from "../src/model/errors.ts";

const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const CURVES: { readonly [curve: string]: string } = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};
const EDWARDS = ["EdDSA", "Ed25519"] as const;
/** All that a published key may sign with. */
export const ASYMMETRIC: readonly string[] = [...RSA, ...Object.values(CURVES), ...EDWARDS];

/** A key, and the algorithms that may sign with it. @throws InvalidInputError */
export function readPublicKey(pem: string): { readonly key: KeyObject; readonly algorithms: string[] } {
  if (!pem.includes("BEGIN PUBLIC KEY")) {
    throw invalidInput("jwt.publicKey", "must be a public key in PEM (SPKI)");
  }
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (error) {
    throw invalidInput("jwt.publicKey", "could not be read as PEM (SPKI)", { cause: error });
  }
  return { key, algorithms: algorithmsOf(key) };
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
