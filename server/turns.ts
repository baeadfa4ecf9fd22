import type { Clock } from "../src/env/clock.ts";

/** How an op ended, as far as turns are concerned. */
export type Ending =
  /** Refused because the head had moved, and it comes again on the new one. */
  "comes-again" | "over";

/** An op that waits for its place: `begin` hands it on, and is told how it ended. */
export type Begin = (ended: (ending: Ending) => void) => void;

interface Place<Writer> {
  /** Whose turn it is. Nobody's, as long as nobody was refused. */
  holder: Writer | undefined;
  endTurn: () => void;
  /** Refused, in that order, and still without a turn. */
  readonly refused: Writer[];
  /** What others sent while it was somebody's turn. */
  held: { readonly writer: Writer; readonly begin: Begin }[];
  /** How many ops of each writer are being decided. */
  readonly undecided: Map<Writer, number>;
}

/**
 * Lets everyone get a word in (rule P29). Whoever was refused because another was faster gets a turn: until its next op
 * of that session is decided, or `turnMs` have passed, what others send waits. Nothing waits while nobody was refused.
 */
export class Turns<Writer> {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #places = new Map<string, Place<Writer>>();

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Places where something is being decided, waits, or is somebody's turn. */
  get size(): number {
    return this.#places.size;
  }

  /** Begins the op now, or when it is this writer's turn again. Ops of one writer begin in the order of the calls. */
  take(key: string, writer: Writer, begin: Begin): void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = { holder: undefined, endTurn: () => {}, refused: [], held: [], undecided: new Map() };
      this.#places.set(key, place);
    }
    if (place.holder !== undefined && place.holder !== writer) place.held.push({ writer, begin });
    else this.#begin(key, place, writer, begin);
  }

  /** The connection is over: its turn is, and what it sent and nobody began is left. */
  left(writer: Writer): void {
    for (const [key, place] of [...this.#places]) {
      place.held = place.held.filter((waiting) => waiting.writer !== writer);
      const at = place.refused.indexOf(writer);
      if (at >= 0) place.refused.splice(at, 1);
      if (place.holder === writer) this.#end(place);
      this.#next(key, place);
    }
  }

  close(): void {
    for (const place of this.#places.values()) place.endTurn();
    this.#places.clear();
  }

  #begin(key: string, place: Place<Writer>, writer: Writer, begin: Begin): void {
    place.undecided.set(writer, (place.undecided.get(writer) ?? 0) + 1);
    begin((ending) => {
      const left = (place.undecided.get(writer) ?? 1) - 1;
      if (left > 0) place.undecided.set(writer, left);
      else place.undecided.delete(writer);
      if (this.#places.get(key) !== place) return;
      if (ending === "comes-again") {
        if (place.holder !== writer && !place.refused.includes(writer)) place.refused.push(writer);
      } else if (place.holder === writer && left === 0) this.#end(place);
      this.#next(key, place);
    });
  }

  #end(place: Place<Writer>): void {
    place.endTurn();
    place.endTurn = () => {};
    place.holder = undefined;
  }

  #next(key: string, place: Place<Writer>): void {
    if (place.holder === undefined) this.#give(key, place);
    const { holder } = place;
    // What is begun may end at once, and change all this.
    const ready = place.held.filter(({ writer }) => holder === undefined || writer === holder);
    place.held = place.held.filter(({ writer }) => holder !== undefined && writer !== holder);
    for (const { writer, begin } of ready) this.take(key, writer, begin);
    const idle = place.holder === undefined && place.undecided.size === 0 && place.held.length === 0;
    if (idle && this.#places.get(key) === place) this.#places.delete(key);
  }

  #give(key: string, place: Place<Writer>): void {
    const holder = place.refused.shift();
    if (holder === undefined) return;
    place.holder = holder;
    place.endTurn = this.#clock.after(this.#turnMs, () => {
      place.holder = undefined;
      this.#next(key, place);
    });
  }
}
