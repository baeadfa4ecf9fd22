// A multiple of three bytes, so that pieces join without padding; small enough for a spread of arguments.
const CHUNK_BYTES = 3 * 8192;

/** Bytes as base64, standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    text += btoa(String.fromCharCode(...bytes.subarray(from, from + CHUNK_BYTES)));
  }
  return text;
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

let table: Uint8Array | undefined;

function alphabet(): Uint8Array {
  if (table === undefined) {
    table = new Uint8Array(256).fill(0xff);
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (let value = 0; value < digits.length; value += 1) table[digits.charCodeAt(value)] = value;
  }
  return table;
}
