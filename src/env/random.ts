/** Randomness for ids and jitter. Seeded in tests. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1). */
  fraction(): number;
}
