/** Bounds between which a wait is drawn evenly, in milliseconds. */
export interface DelayRange {
  readonly minMs: number;
  readonly maxMs: number;
}

const BASE_MS = 250;
const CAP_MS = 30_000;
const REFUSED_BASE_MS = 2_000;

/**
 * How long to wait before trying again after so many failures in a row, from 0: up to 250 ms, doubling to 30 s, with
 * full jitter (P9). It never ends.
 */
export function retryDelay(failures: number): DelayRange {
  return { minMs: 0, maxMs: Math.min(CAP_MS, BASE_MS * 2 ** failures) };
}

/**
 * How long to wait before showing another token after so many were refused, from 0. Slower, and never less than half
 * its bound: whatever is drawn, no minute sees ten connections with bad tokens (C30).
 */
export function refusedDelay(refusals: number): DelayRange {
  const maxMs = Math.min(CAP_MS, REFUSED_BASE_MS * 2 ** refusals);
  return { minMs: maxMs / 2, maxMs };
}

const CONTENDED_BASE_MS = 10;
const CONTENDED_CAP_MS = 500;

/**
 * How long to wait before sending ops again after others were faster so many times in a row, from 1. The first time not
 * at all; then a time drawn from bounds that double to 500 ms, so that many who write at once take turns.
 */
export function contendedDelay(losses: number): DelayRange {
  return {
    minMs: 0,
    maxMs: losses <= 1 ? 0 : Math.min(CONTENDED_CAP_MS, CONTENDED_BASE_MS * 2 ** losses),
  };
}

/**
 * In whole milliseconds: a fraction of one that is left over after a timer fired would be waited for again and again.
 * @param fraction drawn from [0, 1).
 */
export function drawDelayMs(range: DelayRange, fraction: number): number {
  return Math.ceil(range.minMs + fraction * (range.maxMs - range.minMs));
}

/** A wait of exactly this long. */
export function exactly(ms: number): DelayRange {
  return { minMs: ms, maxMs: ms };
}
