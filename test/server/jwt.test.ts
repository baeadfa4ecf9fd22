import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuthError, type Authenticator } from "../../server/authenticator.ts";
import { jwtAuthenticator } from "../../server/jwt.ts";
import type { JwtOptions } from "../../server/jwt-options.ts";
import { TestClock } from "../../src/testing/clock.ts";

const clock = new TestClock();
const nowS = clock.now() / 1000;
const secret = "a secret of more than thirty-two bytes, as it should be";
const pairs = {
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  PS384: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
  ES512: generateKeyPairSync("ec", { namedCurve: "P-521" }),
  EdDSA: generateKeyPairSync("ed25519"),
};
const pem = (key: KeyObject): string => key.export({ type: "spki", format: "pem" }).toString();

function sign(alg: string, key: KeyObject | Uint8Array, claims: JWTPayload = {}): Promise<string> {
  return new SignJWT({ sub: "ann", exp: nowS + 60, ...claims }).setProtectedHeader({ alg }).sign(key);
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function refusal(authenticate: Authenticator, token: string | undefined): Promise<string> {
  try {
    await authenticate(token, undefined);
  } catch (error) {
    return error instanceof AuthError ? error.reason : `${String(error)}`;
  }
  return "accepted";
}

describe("by secret", () => {
  const authenticate = jwtAuthenticator({ secret }, clock);

  test.each(["HS256", "HS384", "HS512"])(
    "[P4] %s: the actor is the subject, the end is the token's",
    async (alg) => {
      const identity = await authenticate(await sign(alg, bytes(secret)), undefined);
      expect(identity).toEqual({ actorId: "ann", expiresAt: new Date((nowS + 60) * 1000) });
    },
  );

  test("[P5] a token without an end does not end", async () => {
    const token = await new SignJWT({ sub: "ann" }).setProtectedHeader({ alg: "HS256" }).sign(bytes(secret));
    expect(await authenticate(token, undefined)).toEqual({ actorId: "ann" });
  });

  test("[C28] what is expired, missing or wrong is refused, each by its reason", async () => {
    const good = bytes(secret);
    const payload = await sign("HS256", good);
    const [header = "", body = ""] = payload.split(".");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
    const cases: [string | undefined, string][] = [
      [undefined, "missing"],
      ["", "missing"],
      ["not a token", "invalid"],
      [`${header}.${body}.`, "invalid"],
      [none, "invalid"],
      [await sign("HS256", good, { exp: nowS - 6 }), "expired"],
      [await sign("HS256", good, { exp: nowS - 4 }), "accepted"],
      [await sign("HS256", good, { nbf: nowS + 60 }), "invalid"],
      [await sign("HS256", good, { sub: undefined as never }), "invalid"],
      [await sign("HS256", good, { sub: 5 as never }), "invalid"],
      [await sign("HS256", bytes("another secret of more than thirty-two bytes")), "invalid"],
      [await sign("RS256", pairs.RS256.privateKey), "invalid"],
      [await sign("EdDSA", pairs.EdDSA.privateKey), "invalid"],
    ];
    for (const [token, reason] of cases)
      expect([token, await refusal(authenticate, token)]).toEqual([token, reason]);
  });

  test("[P5] issuer and audience are checked where they are given", async () => {
    const strict = jwtAuthenticator({ secret, issuer: "https://issuer", audience: ["a", "b"] }, clock);
    const token = (claims: JWTPayload) => sign("HS256", bytes(secret), claims);
    expect(await refusal(strict, await token({ iss: "https://issuer", aud: "b" }))).toBe("accepted");
    expect(await refusal(strict, await token({ iss: "https://other", aud: "b" }))).toBe("invalid");
    expect(await refusal(strict, await token({ iss: "https://issuer", aud: "c" }))).toBe("invalid");
    expect(await refusal(strict, await token({}))).toBe("invalid");
  });
});

describe("by public key", () => {
  test.each(Object.entries(pairs))("[P4] %s: its own tokens and no others", async (alg, pair) => {
    const authenticate = jwtAuthenticator({ publicKey: pem(pair.publicKey) }, clock);
    expect(await refusal(authenticate, await sign(alg, pair.privateKey))).toBe("accepted");
    for (const [other, { privateKey }] of Object.entries(pairs)) {
      if (other === alg) continue;
      expect(await refusal(authenticate, await sign(other, privateKey))).toBe("invalid");
    }
    // The classic confusion: the public key, which everybody has, as an HMAC secret.
    const forged = await sign("HS256", bytes(pem(pair.publicKey)));
    expect(await refusal(authenticate, forged)).toBe("invalid");
  });
});

describe("by published keys", () => {
  const { privateKey, publicKey } = pairs.ES256;
  let healthy = true;
  const server = createServer((_, response) => {
    void exportJWK(publicKey).then((jwk) => {
      response.writeHead(healthy ? 200 : 503, { "content-type": "application/json" });
      response.end(JSON.stringify({ keys: [{ ...jwk, alg: "ES256", use: "sig", kid: "k" }] }));
    });
  });
  let url = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test("[P4] tokens of the published keys and no others", async () => {
    const authenticate = jwtAuthenticator({ jwksUrl: url }, clock);
    expect(await refusal(authenticate, await sign("ES256", privateKey))).toBe("accepted");
    expect(await refusal(authenticate, await sign("RS256", pairs.RS256.privateKey))).toBe("invalid");
    expect(await refusal(authenticate, await sign("HS256", bytes(pem(publicKey))))).toBe("invalid");
  });

  test("[C28] keys that cannot be had are not the token's fault: the client tries again", async () => {
    healthy = false;
    const failing = jwtAuthenticator({ jwksUrl: url }, clock);
    const token = await sign("ES256", privateKey);
    expect(await refusal(failing, token)).toBe("unavailable");
    healthy = true;
    expect(await refusal(failing, token)).toBe("accepted");
    const nowhere = jwtAuthenticator({ jwksUrl: "http://127.0.0.1:1/jwks" }, clock);
    expect(await refusal(nowhere, token)).toBe("unavailable");
  });
});

test.each<[string, JwtOptions, string]>([
  ["no key at all", {}, "jwt"],
  ["two keys", { secret: "x", jwksUrl: "http://x" }, "jwt"],
  ["an empty secret", { secret: "" }, "jwt.secret"],
  ["a secret of 31 bytes", { secret: "x".repeat(31) }, "jwt.secret"],
  ["a secret that is no text", { secret: 5 as never }, "jwt.secret"],
  ["a name that is none", { secret, secert: "x" } as never, "jwt.secert"],
  ["an issuer that is no text", { secret, issuer: 5 as never }, "jwt.issuer"],
  ["an audience of numbers", { secret, audience: [5] as never }, "jwt.audience"],
  ["a number for all of it", 5 as never, "jwt"],
  ["an address of keys that is no page", { jwksUrl: "ftp://x/keys" }, "jwt.jwksUrl"],
  [
    "a key that is none",
    { publicKey: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" },
    "jwt.publicKey",
  ],
  ["text for a key", { publicKey: "key" }, "jwt.publicKey"],
  ["a URL that is none", { jwksUrl: "keys" }, "jwt.jwksUrl"],
  [
    "a key of a kind that signs nothing",
    { publicKey: pem(generateKeyPairSync("x25519").publicKey) },
    "jwt.publicKey",
  ],
  [
    "a curve without an algorithm",
    { publicKey: pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).publicKey) },
    "jwt.publicKey",
  ],
])("[H10] %s is refused when the relay is made", (_, options, path) => {
  expect(() => jwtAuthenticator(options, clock)).toThrow(
    expect.objectContaining({ code: "invalid-input", path }),
  );
});
