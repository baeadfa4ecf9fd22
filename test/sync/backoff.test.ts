import fc from "fast-check";
import { expect, test } from "vitest";
import { contendedDelay, drawDelayMs, refusedDelay, retryDelay } from "../../src/sync/backoff.ts";
import { seededRandom } from "../../src/testing/random.ts";

test("[P9] the wait is up to 250 ms at first and doubles up to 30 s", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map((failures) => retryDelay(failures).maxMs)).toEqual([
    250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
});

test("[C29] the wait never passes 30 s and never ends, however many failures there were", () => {
  fc.assert(
    fc.property(
      fc.nat(1_000_000),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, fraction) => {
        const delayMs = drawDelayMs(retryDelay(failures), fraction);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(30_000);
      },
    ),
  );
});

test("[C31] the jitter is full: a thousand clients spread evenly over the whole wait", () => {
  const quarters = [0, 0, 0, 0];
  for (let client = 0; client < 1000; client++) {
    const quarter = Math.floor((drawDelayMs(retryDelay(5), client / 1000) / 8000) * 4);
    quarters[quarter] = (quarters[quarter] ?? 0) + 1;
  }
  expect(quarters).toEqual([250, 250, 250, 250]);
});

test("[C30] even the shortest waits between refused tokens leave fewer than ten connections in a minute", () => {
  // One at the start, one at once with a fresh token, and then one after each wait.
  let [connections, atMs] = [2, 0];
  for (let refusals = 0; ; refusals++) {
    atMs += drawDelayMs(refusedDelay(refusals), 0);
    if (atMs >= 60_000) break;
    connections += 1;
  }
  expect(connections).toBeLessThan(10);
});

test("[C18] who was beaten to a session once tries again at once; more often, after a time drawn from bounds that double to 500 ms", () => {
  expect([1, 2, 3, 6, 50].map((losses) => contendedDelay(losses).maxMs)).toEqual([0, 40, 80, 500, 500]);
  expect(contendedDelay(9).minMs).toBe(0);
});

test("[C31] a thousand clients that lost one relay come back spread: no tenth of a second of a long outage sees many", () => {
  const OUTAGE_MS = 20_000;
  const buckets = new Map<number, number>();
  for (let seed = 1; seed <= 1000; seed++) {
    const random = seededRandom(seed);
    let atMs = 0;
    for (let failures = 0; atMs < OUTAGE_MS; failures++)
      atMs += drawDelayMs(retryDelay(failures), random.fraction());
    const bucket = Math.floor(atMs / 100);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
  }
  // Even over the wait of some 16 s it would be about 6; the waits under way are shorter for some.
  expect(Math.max(...buckets.values())).toBeLessThan(30);
  expect(buckets.size).toBeGreaterThan(100);
});
