import type { Head } from "../../src/model/revision.ts";
import type { Kept } from "../../src/wire/shapes.ts";
import type { PageBounds, StoredMessage } from "./contract.ts";
import { type Ancestry, commonPrefix, ownerAt, type Segment, segmentsOf } from "./lineage.ts";

/** The rows of one session's log as a storage gives them. */
export interface LogRows {
  /** Undefined for a generation that never was. */
  ancestryOf(generation: number): (Ancestry & { readonly count: number }) | undefined;
  idAt(owner: number, position: number): string | undefined;
  /** Every place where a message of this id is stored. */
  placesOf(id: string): readonly { readonly owner: number; readonly position: number }[];
  /** Rows of one owner in order from a position, as many as are taken. */
  rows(segment: Segment): Iterable<StoredMessage>;
}

/** What can be asked of one session's logs: the current one, and those archived. */
export class Log {
  readonly #rows: LogRows;

  constructor(rows: LogRows) {
    this.#rows = rows;
  }

  countOf(generation: number): number | undefined {
    return this.#rows.ancestryOf(generation)?.count;
  }

  ancestryOf(generation: number): Ancestry {
    return this.#rows.ancestryOf(generation) ?? NOTHING_KEPT;
  }

  segments(kept: Kept): Segment[] {
    return segmentsOf(kept, (generation) => this.ancestryOf(generation));
  }

  /** The id at a position of a generation; undefined past its end. */
  idAt(generation: number, position: number): string | undefined {
    const count = this.countOf(generation);
    if (count === undefined || position < 0 || position >= count) return undefined;
    let owner = generation;
    for (;;) {
      const { keepGeneration, keepCount } = this.ancestryOf(owner);
      if (position >= keepCount) return this.#rows.idAt(owner, position);
      owner = keepGeneration;
    }
  }

  /** Whether a message of this id stands among the first `count` of a generation. */
  holds(kept: Kept, id: string): boolean {
    const places = this.#rows.placesOf(id);
    if (places.length === 0) return false;
    const segments = this.segments(kept);
    return places.some(({ owner, position }) => ownerAt(segments, position) === owner);
  }

  /** Whether a head names a place in the logs that are here: what a client that holds up to it holds a prefix of. */
  contains(head: Head): boolean {
    if (head.count === 0) return head.lastId === null && this.countOf(head.generation) !== undefined;
    return this.idAt(head.generation, head.count - 1) === head.lastId;
  }

  /** How much of what a client holds up to `have` is the beginning of the log at `head` (rule P31). */
  commonWith(have: Head, head: Head): number {
    if (!this.contains(have)) return 0;
    if (have.generation === head.generation) return Math.min(have.count, head.count);
    return commonPrefix(this.segments(have), this.segments(head));
  }

  /** Messages of a log from a position on, within the bounds, at least one where there is one. */
  read(kept: Kept, from: number, bounds: PageBounds): { messages: StoredMessage[]; more: boolean } {
    const messages: StoredMessage[] = [];
    let bytes = 0;
    for (const segment of this.segments(kept)) {
      if (segment.to <= from) continue;
      for (const row of this.#rows.rows({ ...segment, from: Math.max(from, segment.from) })) {
        bytes += row.body.length;
        const full = messages.length >= bounds.maxMessages || bytes > bounds.maxBytes;
        if (full && messages.length > 0) return { messages, more: true };
        messages.push(row);
      }
    }
    return { messages, more: false };
  }
}

const NOTHING_KEPT: Ancestry = { keepGeneration: 0, keepCount: 0 };
