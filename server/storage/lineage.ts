import type { Kept } from "../../src/wire/shapes.ts";

// A generation keeps a prefix of an earlier one (P24) and stores only the messages after it. So a replace costs what
// it adds, and a log is a few segments, each read from the generation whose rows hold it.

/** How one generation came to be. Generation 0 keeps nothing. */
export interface Ancestry {
  /** The generation whose rows hold the last message that was kept; 0 where nothing was. */
  readonly keepGeneration: number;
  /** How many messages were kept: positions below it stand in earlier generations' rows. */
  readonly keepCount: number;
}

/** The positions [from, to) of a log, stored as rows of `owner` under the same positions. */
export interface Segment {
  readonly owner: number;
  readonly from: number;
  readonly to: number;
}

/** Where the first `count` messages of a generation are stored, from position 0 up. */
export function segmentsOf(kept: Kept, ancestryOf: (generation: number) => Ancestry): Segment[] {
  const segments: Segment[] = [];
  let { generation: owner, count: to } = kept;
  while (to > 0) {
    const { keepGeneration, keepCount } = ancestryOf(owner);
    if (to > keepCount) segments.unshift({ owner, from: keepCount, to });
    to = Math.min(to, keepCount);
    owner = keepGeneration;
  }
  return segments;
}

/** The ancestry of a new generation that keeps this much: named by the generation that holds the last message kept. */
export function ancestryAfter(keep: Kept, ancestryOf: (generation: number) => Ancestry): Ancestry {
  let owner = keep.generation;
  for (;;) {
    const { keepGeneration, keepCount } = ancestryOf(owner);
    if (keep.count > keepCount || keep.count === 0) break;
    owner = keepGeneration;
  }
  return keep.count === 0
    ? { keepGeneration: 0, keepCount: 0 }
    : { keepGeneration: owner, keepCount: keep.count };
}

/** How many messages from the beginning two logs have in common by descent: what is stored once for both. */
export function commonPrefix(one: readonly Segment[], other: readonly Segment[]): number {
  let common = 0;
  for (const [index, segment] of one.entries()) {
    const beside = other[index];
    if (beside === undefined || beside.owner !== segment.owner || beside.from !== segment.from) return common;
    // Where one ends before the other, what follows it begins elsewhere, and the next round sees that.
    common = Math.min(segment.to, beside.to);
  }
  return common;
}

export function ownerAt(segments: readonly Segment[], position: number): number | undefined {
  return segments.find((segment) => segment.from <= position && position < segment.to)?.owner;
}
