/** How much is measured: the same on both sides. */
export const sizes = { log: 10_000, singles: 60, bursts: 8, burst: 16, reads: 9, reopens: 7 } as const;

export function text(index: number): string {
  const words =
    "so then I restarted it and the same thing came back after an hour, nothing new in the log at all. ";
  return `${index} ${words.repeat(4)}`.slice(0, 380);
}

/** Milliseconds that the work takes, the clock's coarseness spread over all its rounds. */
export async function msOf(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  const from = performance.now();
  for (let round = 0; round < rounds; round++) await work(round);
  return (performance.now() - from) / rounds;
}
