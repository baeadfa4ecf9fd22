import type { GenerationEntry } from "../../src/wire/log.ts";
import type { KnownOp, MessageBody, SessionRow, StoredMessage } from "./contract.ts";
import type { Ancestry, Segment } from "./lineage.ts";
import { Log, type LogRows } from "./log.ts";
import type { StateRows } from "./reading.ts";

interface Generation extends Ancestry {
  readonly op: string | undefined;
  /** Messages from position `keepCount` on. */
  readonly rows: StoredMessage[];
  replacedAtMs?: number;
}

/** One session of one actor, all its lives: the memory storage's rows. */
export class MemorySession implements LogRows, StateRows {
  readonly log: Log = new Log(this);
  readonly ops = new Map<string, KnownOp>();
  row: SessionRow | undefined;
  #generations = new Map<number, Generation>();
  #places = new Map<string, { owner: number; position: number }[]>();
  #state: { readonly n: number; readonly update: Uint8Array }[] = [];

  ancestryOf(generation: number): (Ancestry & { count: number }) | undefined {
    const held = this.#generations.get(generation);
    if (held === undefined)
      return generation === 0 ? { keepGeneration: 0, keepCount: 0, count: 0 } : undefined;
    const { keepGeneration, keepCount, rows } = held;
    return { keepGeneration, keepCount, count: keepCount + rows.length };
  }

  idAt(owner: number, position: number): string | undefined {
    const held = this.#generations.get(owner);
    return held?.rows[position - held.keepCount]?.id;
  }

  placesOf(id: string): readonly { owner: number; position: number }[] {
    return this.#places.get(id) ?? [];
  }

  *rows(segment: Segment): Iterable<StoredMessage> {
    const held = this.#generations.get(segment.owner);
    if (held === undefined) return;
    for (let position = segment.from; position < segment.to; position += 1) {
      const row = held.rows[position - held.keepCount];
      if (row !== undefined) yield row;
    }
  }

  updatesAfter(cursor: number): Uint8Array[] {
    return this.#state.filter(({ n }) => n > cursor).map(({ update }) => update);
  }

  *updatesFrom(cursor: number): Iterable<{ n: number; update: Uint8Array }> {
    for (const row of this.#state) if (row.n > cursor) yield row;
  }

  messages(): StoredMessage[] {
    return [...this.#generations.values()].flatMap(({ rows }) => rows);
  }

  listGenerations(maxEntries: number): GenerationEntry[] {
    const current = this.row?.head.generation ?? 0;
    const entries: GenerationEntry[] = [];
    for (let generation = current; generation >= 0 && entries.length < maxEntries; generation -= 1) {
      const held = this.#generations.get(generation);
      entries.push({
        generation,
        count: this.ancestryOf(generation)?.count ?? 0,
        ...(held?.replacedAtMs === undefined
          ? {}
          : { replacedAt: new Date(held.replacedAtMs).toISOString() }),
        ...(held?.op === undefined ? {} : { opId: held.op }),
      });
    }
    return entries;
  }

  erase(): void {
    this.#generations = new Map();
    this.#places = new Map();
    this.#state = [];
  }

  archive(ended: { readonly generation: number }, atMs: number): void {
    this.#generation(ended.generation).replacedAtMs = atMs;
  }

  begin(begun: Ancestry & { readonly generation: number }, op: string | undefined): void {
    const { generation, keepGeneration, keepCount } = begun;
    this.#generations.set(generation, { keepGeneration, keepCount, op, rows: [] });
  }

  put(at: { generation: number; start: number }, messages: readonly MessageBody[], op: string): void {
    const { rows } = this.#generation(at.generation);
    for (const [index, { id, body }] of messages.entries()) {
      rows.push({ id, body, op });
      const places = this.#places.get(id) ?? [];
      places.push({ owner: at.generation, position: at.start + index });
      this.#places.set(id, places);
    }
  }

  addState(n: number, update: Uint8Array): void {
    this.#state.push({ n, update: update.slice() });
  }

  compact({ upTo, merged }: { readonly upTo: number; readonly merged: Uint8Array }): void {
    const { row } = this;
    if (row === undefined) return;
    const later = this.#state.filter(({ n }) => n > upTo);
    this.#state = [{ n: upTo, update: merged.slice() }, ...later];
    const stateBytes = this.#state.reduce((sum, { update }) => sum + update.byteLength, 0);
    this.row = { ...row, stateBytes, stateUpdates: this.#state.length };
  }

  #generation(generation: number): Generation {
    const held = this.#generations.get(generation);
    if (held !== undefined) return held;
    const first: Generation = { keepGeneration: 0, keepCount: 0, op: undefined, rows: [] };
    this.#generations.set(generation, first);
    return first;
  }
}
