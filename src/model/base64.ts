/** Bytes as base64, standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let from = 0; from < bytes.length; from += 3) {
    const three = (byteAt(bytes, from) << 16) | (byteAt(bytes, from + 1) << 8) | byteAt(bytes, from + 2);
    text[at] = DIGITS.charCodeAt(three >>> 18);
    text[at + 1] = DIGITS.charCodeAt((three >>> 12) & 63);
    text[at + 2] = from + 1 < bytes.length ? DIGITS.charCodeAt((three >>> 6) & 63) : PAD;
    text[at + 3] = from + 2 < bytes.length ? DIGITS.charCodeAt(three & 63) : PAD;
    at += 4;
  }
  return new TextDecoder().decode(text);
}

/**
 * The bytes of strict base64, or undefined: standard alphabet, padded, no white space, no bits left over. Any two texts
 * it accepts that give the same bytes are the same text.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const end = text.length - padding;
  const values = alphabet();
  let written = 0;
  let bits = 0;
  let held = 0;
  for (let index = 0; index < end; index += 1) {
    const value = values[text.charCodeAt(index)] ?? 0xff;
    if (value === 0xff) return undefined;
    held = ((held << 6) | value) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[written] = held >>> bits;
    written += 1;
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD = "=".charCodeAt(0);
let table: Uint8Array | undefined;

function alphabet(): Uint8Array {
  if (table === undefined) {
    table = new Uint8Array(256).fill(0xff);
    for (let value = 0; value < DIGITS.length; value += 1) table[DIGITS.charCodeAt(value)] = value;
  }
  return table;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
