import type { PositionMark } from "../../src/wire/hello.ts";
import { number, text } from "./sqlite-rows.ts";
import type { Statements } from "./sqlite-statements.ts";

const MAX_MARKS = 16;

/** The marks of positions in SQLite (rule P67): one for each opening of the file that changed something of the actor. */
export class SqliteMarks {
  readonly #statements: Statements;
  readonly #mark: string;
  readonly #maxCached: number;
  /** Actors for whom this opening's mark is stored. */
  readonly #stored = new Set<string>();

  constructor(statements: Statements, opening: { readonly mark: string; readonly maxCached: number }) {
    this.#statements = statements;
    this.#mark = opening.mark;
    this.#maxCached = opening.maxCached;
  }

  /** Inside the transaction that makes the change after this position. */
  change(actor: string, position: number): void {
    if (this.#stored.has(actor)) return;
    if (this.#held(actor, 1).at(-1)?.mark !== this.#mark)
      this.#statements.putMark.run(actor, position, this.#mark);
    if (this.#stored.size >= this.#maxCached) this.#stored.clear();
    this.#stored.add(actor);
  }

  /** The transaction failed: what it stored is not there. */
  forget(): void {
    this.#stored.clear();
  }

  list(actor: string, position: number): readonly PositionMark[] {
    const held = this.#held(actor, MAX_MARKS);
    const present =
      held.at(-1)?.mark === this.#mark ? held : [...held, { after: position, mark: this.#mark }];
    return present.slice(-MAX_MARKS);
  }

  #held(actor: string, most: number): PositionMark[] {
    const rows = this.#statements.marks.all(actor, most);
    return rows.map((row) => ({ after: number(row, "after"), mark: text(row, "mark") })).reverse();
  }
}
