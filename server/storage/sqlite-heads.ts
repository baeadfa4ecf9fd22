import type { SessionRow } from "./contract.ts";
import { number, SqliteSession, sessionRowOf, sessionValues } from "./sqlite-rows.ts";
import type { Statements } from "./sqlite-statements.ts";

export interface CachedSession {
  readonly pk: number;
  row: SessionRow;
}
export interface CachedActor {
  position: number;
  living: number;
}

/**
 * Heads of sessions and positions of actors, cached in memory, never any history. Changes are made here and written at
 * the end of the transaction, once for all of its ops; when it fails everything here is forgotten.
 */
export class SqliteHeads {
  readonly #statements: Statements;
  readonly #maxCached: number;
  readonly #sessions = new Map<string, CachedSession>();
  readonly #actors = new Map<string, CachedActor>();
  readonly #changedSessions = new Set<CachedSession>();
  readonly #changedActors = new Set<string>();

  constructor(statements: Statements, maxCached: number) {
    this.#statements = statements;
    this.#maxCached = maxCached;
  }

  session(actor: string, id: string): CachedSession | undefined {
    const key = keyOf(actor, id);
    const held = this.#sessions.get(key);
    if (held !== undefined) {
      // Put last again: the first ones are the longest unused.
      this.#sessions.delete(key);
      this.#sessions.set(key, held);
      return held;
    }
    const row = this.#statements.session.get(actor, id);
    if (row === undefined) return undefined;
    return this.#hold(key, { pk: number(row, "pk"), row: sessionRowOf(row) });
  }

  actor(actor: string): CachedActor {
    const held = this.#actors.get(actor);
    if (held !== undefined) return held;
    const row = this.#statements.actor.get(actor);
    const read = {
      position: row === undefined ? 0 : number(row, "position"),
      living: row === undefined ? 0 : number(row, "living"),
    };
    this.#actors.set(actor, read);
    trim(this.#actors, this.#maxCached, (name) => this.#changedActors.has(name));
    return read;
  }

  rows(session: CachedSession | undefined): SqliteSession {
    return new SqliteSession(this.#statements, session);
  }

  changeSession(
    at: { actor: string; id: string },
    session: CachedSession | undefined,
    next: SessionRow,
  ): CachedSession {
    if (session !== undefined) {
      session.row = next;
      this.#changedSessions.add(session);
      return session;
    }
    const added = this.#statements.addSession.get(at.actor, at.id, ...sessionValues(next));
    return this.#hold(keyOf(at.actor, at.id), {
      pk: added === undefined ? 0 : number(added, "pk"),
      row: next,
    });
  }

  changeActor(actor: string, next: CachedActor): void {
    this.#actors.set(actor, next);
    this.#changedActors.add(actor);
  }

  /** Writes what changed. Still inside the transaction. */
  write(): void {
    for (const { pk, row } of this.#changedSessions)
      this.#statements.putSession.run(...sessionValues(row), pk);
    for (const actor of this.#changedActors) {
      const { position, living } = this.actor(actor);
      this.#statements.putActor.run(actor, position, living);
    }
    this.#changedSessions.clear();
    this.#changedActors.clear();
  }

  forget(): void {
    this.#sessions.clear();
    this.#actors.clear();
    this.#changedSessions.clear();
    this.#changedActors.clear();
  }

  #hold(key: string, session: CachedSession): CachedSession {
    this.#sessions.set(key, session);
    trim(this.#sessions, this.#maxCached, (_, held) => this.#changedSessions.has(held));
    return session;
  }
}

/** Drops the longest unused, apart from what is not written yet and from the last, which is about to be used. */
function trim<T>(map: Map<string, T>, size: number, kept: (key: string, value: T) => boolean): void {
  let excess = map.size - size;
  for (const [key, value] of map) {
    if (excess <= 0) return;
    excess -= 1;
    if (!kept(key, value)) map.delete(key);
  }
}

function keyOf(actor: string, id: string): string {
  return `${actor.length}:${actor}${id}`;
}
