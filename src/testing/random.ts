import type { Random } from "../env/random.ts";

/** Randomness that repeats: the same seed gives the same numbers. Not for secrets. */
export interface SeededRandom extends Random {
  readonly seed: number;
  /** A whole number from 0 up to, not including, `below`. */
  below(below: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** Another stream that depends on this seed and the name alone, not on what was drawn before. */
  fork(name: string): SeededRandom;
}

/** A stream of numbers that depends on the seed alone. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  // A Weyl sequence, its values stirred by xor, shift and multiplication with odd constants.
  const word = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const fraction = (): number => ((word() >>> 5) * 0x4000000 + (word() >>> 6)) / 0x20000000000000;
  return {
    seed,
    fraction,
    bytes: (length) => Uint8Array.from({ length }, () => word() & 0xff),
    below: (below) => Math.floor(fraction() * below),
    chance: (probability) => fraction() < probability,
    fork: (name) => {
      let mixed = seed | 0;
      for (const unit of name) mixed = (Math.imul(mixed, 31) + (unit.codePointAt(0) ?? 0)) | 0;
      return seededRandom(mixed ^ 0x5bd1e995);
    },
  };
}
