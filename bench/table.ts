import type { Figures, Row } from "./rows.ts";

/** One round: the same work on both sides, back to back. */
export interface Round {
  readonly ours: Figures;
  readonly limit: Figures;
}

export interface Line extends Row {
  /** Ours divided by the limit, one a round; for a line of its own, the figure itself. */
  readonly ratios: readonly number[];
  readonly median: number;
  /** The median and two thirds of the rounds miss the target. */
  readonly missed: boolean;
  readonly oursMedian: number;
  readonly limitMedian: number | undefined;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function lineOf(row: Row, rounds: readonly Round[], own: boolean): Line {
  const ours = rounds.map((round) => round.ours[row.of] ?? Number.NaN);
  const limits = rounds.map((round) => round.limit[row.of] ?? Number.NaN);
  const ratios = own ? ours : ours.map((figure, index) => figure / (limits[index] ?? Number.NaN));
  // A figure that is not there is a miss, never a pass.
  const misses = (ratio: number) => !(row.better === "more" ? ratio >= row.target : ratio <= row.target);
  return {
    ...row,
    ratios,
    median: median(ratios),
    missed: misses(median(ratios)) && ratios.filter(misses).length * 3 >= ratios.length * 2,
    oursMedian: median(ours),
    limitMedian: own ? undefined : median(limits),
  };
}

const figure = (value: number) =>
  !Number.isFinite(value)
    ? "–"
    : value >= 100
      ? Math.round(value).toLocaleString("en")
      : value.toPrecision(3);

export function tableOf(lines: readonly Line[]): string {
  const head = "| # | metric | target | measured (min–max) | | ours | limit |\n|---|---|---|---|---|---|---|";
  const body = lines.map((line) => {
    const target = `${line.better === "more" ? "≥" : "≤"} ${line.target}`;
    const range = `**${figure(line.median)}** (${figure(Math.min(...line.ratios))}–${figure(Math.max(...line.ratios))})`;
    const limit = line.limitMedian === undefined ? "–" : `${figure(line.limitMedian)} ${line.unit}`;
    return `| ${line.id} | ${line.what} | ${target} | ${range} | ${line.missed ? "missed" : "met"} | ${figure(line.oursMedian)} ${line.unit} | ${limit} |`;
  });
  return [head, ...body].join("\n");
}
