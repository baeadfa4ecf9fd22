/** Time as the SDK sees it. A test's clock moves only when told to. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump; never used for order. */
  now(): number;
  /** Runs `fire` once, `delayMs` from now. The returned function cancels it. */
  after(delayMs: number, fire: () => void): () => void;
}
