/**
 * How far the catalog has been read. The position moves only without a gap: it never passes a change that was not stored
 * here (rules P42, P44); what was only heard of is asked for.
 */
export class CatalogCursor {
  #position = 0;
  /** The furthest position heard of. */
  #heardOf = 0;
  /** The position of the last question. */
  #askedFrom = 0;
  /** Changes that were taken behind a gap: the position passes them as soon as the gap is closed. */
  readonly #ahead = new Set<number>();

  get position(): number {
    return this.#position;
  }

  /** There are changes that were heard of and are not here. */
  get misses(): boolean {
    return this.#heardOf > this.#position;
  }

  /** The last answer led further than its question. */
  get ledFurther(): boolean {
    return this.#position > this.#askedFrom;
  }

  /** A connection begins: what was heard of on another one is told again. */
  forget(): void {
    this.#heardOf = 0;
    this.#ahead.clear();
  }

  /** The position that is stored. What was heard of meanwhile stays heard of. */
  begin(position: number): void {
    this.#position = position;
    this.#askedFrom = position;
  }

  asked(): void {
    this.#askedFrom = this.#position;
  }

  /** A change was told that is not taken now. */
  heard(seq: number): void {
    this.#heardOf = Math.max(this.#heardOf, seq);
  }

  /** A change was taken. */
  took(seq: number): void {
    this.heard(seq);
    if (seq > this.#position) this.#ahead.add(seq);
    this.#close();
  }

  /** All changes up to here were taken. */
  read(position: number): void {
    for (const seq of this.#ahead) if (seq <= position) this.#ahead.delete(seq);
    this.#position = Math.max(this.#position, position);
    this.#close();
  }

  /** The transaction that took them failed. */
  back(position: number): void {
    this.heard(this.#position);
    this.#ahead.clear();
    this.#position = position;
  }

  #close(): void {
    while (this.#ahead.delete(this.#position + 1)) this.#position += 1;
  }
}
