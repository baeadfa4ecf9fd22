import { digest } from "lib0/hash/sha256";
import { encodeBase64 } from "../src/model/base64.ts";

/** Tells a text from any other: the first 22 characters of the base64 of its SHA-256. */
export type Digest = (text: string) => string;

export const DIGEST_LENGTH = 22;

const UTF8 = new TextEncoder();

/** Works wherever JavaScript does; a relay under Node has a faster one. */
export const portableDigest: Digest = (text) =>
  encodeBase64(digest(UTF8.encode(text))).slice(0, DIGEST_LENGTH);
