import { invalidInput } from "./errors.ts";

/** The most UTF-16 code units an id may have (M9). */
export const MAX_ID_LENGTH = 128;

/** Where an id gets its time and its randomness. */
export interface IdSource {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** `n` fresh random bytes. */
  bytes(n: number): Uint8Array;
}

/**
 * A new UUIDv7. Without a source it uses the system's clock and randomness, and every id is greater, as text, than the
 * one before it in this process, also within one millisecond and when the clock jumps back. With a source it depends
 * on that alone and promises no order within a millisecond.
 */
export function newId(source?: IdSource): string {
  if (source !== undefined) {
    const bytes = source.bytes(10);
    return format(source.nowMs, (at(bytes, 0) << 8) | at(bytes, 1), bytes, 2);
  }
  const random = takeRandom();
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The top bit starts at 0, so that at least 2,048 ids fit into a millisecond before time is borrowed.
    sequence = ((at(pool, random) << 8) | at(pool, random + 1)) & 0x7ff;
  } else if (sequence < 0xfff) {
    sequence += 1;
  } else {
    lastMs += 1;
    sequence = 0;
  }
  return format(lastMs, sequence, pool, random + 2);
}

/** The system's time as `2026-01-31T09:30:00.000Z`: when a message made now was made. */
export function newTimestamp(): string {
  return new Date().toISOString();
}

/** Whether this may be the id of a message, a session or an op: M9. */
export function isValidId(id: unknown): id is string {
  return problemOf(id) === undefined;
}

/** The id itself. @throws InvalidInputError when it may not be an id, naming `path`. */
export function checkId(id: unknown, path: string): string {
  const problem = problemOf(id);
  if (problem === undefined) return id as string;
  throw invalidInput(path, problem);
}

function problemOf(id: unknown): string | undefined {
  if (typeof id !== "string") return "must be text";
  if (id.trim() === "") return "must not be blank";
  if (id.length > MAX_ID_LENGTH) return `must not be longer than ${MAX_ID_LENGTH} characters`;
  // Databases and UTF-8 change or cut these silently, and two ids would become one.
  if (UNSTORABLE.test(id)) return "must not hold NUL or half a surrogate pair";
  return undefined;
}

const UNSTORABLE = /\0|\p{Surrogate}/u;
const RANDOM_BYTES_PER_ID = 10;
const POOL_BYTES = 256 * RANDOM_BYTES_PER_ID;

let lastMs = 0;
let sequence = 0;
let pool = new Uint8Array(0);
let poolUsed = 0;
const hex: string[] = [];

function takeRandom(): number {
  if (poolUsed >= pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    poolUsed = 0;
  }
  const start = poolUsed;
  poolUsed += RANDOM_BYTES_PER_ID;
  return start;
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

/** RFC 9562 §5.7: 48 bits of time, version, 12 bits of sequence, variant, 62 bits of randomness. */
function format(ms: number, low12: number, random: Uint8Array, from: number): string {
  if (hex.length === 0) for (let i = 0; i < 256; i += 1) hex.push(i.toString(16).padStart(2, "0"));
  const h = (byte: number): string => hex[byte & 0xff] ?? "";
  const high = Math.floor(ms / 0x10000);
  const r = (i: number): string => h(at(random, from + i));
  return `${h(high >>> 24)}${h(high >>> 16)}${h(high >>> 8)}${h(high)}-${h((ms % 0x10000) >>> 8)}${h(ms % 0x10000)}-${h(
    0x70 | ((low12 >>> 8) & 0xf),
  )}${h(low12)}-${h(0x80 | (at(random, from) & 0x3f))}${r(1)}-${r(2)}${r(3)}${r(4)}${r(5)}${r(6)}${r(7)}`;
}
