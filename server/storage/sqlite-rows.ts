import { StorageError } from "../../src/model/errors.ts";
import type { GenerationEntry } from "../../src/wire/log.ts";
import type { KnownOp, MessageBody, SessionRow, StoredMessage } from "./contract.ts";
import type { Commit } from "./decision.ts";
import type { Ancestry, Segment } from "./lineage.ts";
import type { LogRows } from "./log.ts";
import type { StateRows } from "./reading.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { Statements } from "./sqlite-statements.ts";

/** One session's rows in SQLite: its log and its state, for as long as its head is this one. */
export class SqliteSession implements LogRows, StateRows {
  readonly #statements: Statements;
  readonly #pk: number;
  readonly #row: SessionRow | undefined;

  constructor(
    statements: Statements,
    session: { readonly pk: number; readonly row: SessionRow } | undefined,
  ) {
    this.#statements = statements;
    this.#pk = session?.pk ?? NO_SESSION;
    this.#row = session?.row;
  }

  ancestryOf(generation: number): (Ancestry & { count: number }) | undefined {
    const head = this.#row?.head;
    const current = generation === head?.generation ? head.count : undefined;
    const row = this.#statements.generation.get(this.#pk, generation);
    if (row !== undefined) {
      return {
        keepGeneration: number(row, "keep_generation"),
        keepCount: number(row, "keep_count"),
        count: current ?? number(row, "count"),
      };
    }
    return generation === 0 ? { keepGeneration: 0, keepCount: 0, count: current ?? 0 } : undefined;
  }

  idAt(owner: number, position: number): string | undefined {
    const row = this.#statements.idAt.get(this.#pk, owner, position);
    return row === undefined ? undefined : text(row, "id");
  }

  placesOf(id: string): readonly { owner: number; position: number }[] {
    return this.#statements.placesOf
      .all(this.#pk, id)
      .map((row) => ({ owner: number(row, "generation"), position: number(row, "idx") }));
  }

  *rows({ owner, from, to }: Segment): Iterable<StoredMessage> {
    // Positions of an owner are dense. Some at once, so that no cursor stays open while a page is put together.
    for (let at = from; at < to; at += ROWS_AT_ONCE) {
      const until = Math.min(to, at + ROWS_AT_ONCE);
      const found = this.#statements.messages.all(this.#pk, owner, at, until);
      // A page that skipped one would shift all that follow.
      if (found.length !== until - at) {
        throw new StorageError("Messages are missing between others", { reason: "corrupt" });
      }
      for (const row of found) {
        yield { id: text(row, "id"), op: text(row, "op"), body: text(row, "body") };
      }
    }
  }

  *updatesFrom(cursor: number): Iterable<{ n: number; update: Uint8Array }> {
    for (const row of this.#statements.stateAfter.iterate(this.#pk, cursor)) {
      yield { n: number(row, "n"), update: bytes(row, "bytes") };
    }
  }

  knownOp(opId: string): KnownOp | undefined {
    const row = this.#pk === NO_SESSION ? undefined : this.#statements.knownOp.get(this.#pk, opId);
    if (row === undefined) return undefined;
    return {
      digest: text(row, "digest"),
      incarnation: text(row, "incarnation"),
      head: headOf(row),
      added: number(row, "added"),
      stateCursor: number(row, "state_cursor"),
    };
  }

  listGenerations(maxEntries: number): GenerationEntry[] {
    const head = this.#row?.head ?? { generation: 0, count: 0 };
    const entries = this.#statements.generations.all(this.#pk, maxEntries).map((row) => {
      const generation = number(row, "generation");
      const { op, replaced_at: replacedAt } = row;
      return {
        generation,
        count: generation === head.generation ? head.count : number(row, "count"),
        ...(typeof replacedAt === "number" ? { replacedAt: new Date(replacedAt).toISOString() } : {}),
        ...(typeof op === "string" ? { opId: op } : {}),
      };
    });
    // Generation 0 has a row only once it has ended.
    return head.generation === 0 ? [{ generation: 0, count: head.count }] : entries;
  }

  /** Writes what a commit brings, apart from the session's own row. */
  write(commit: Commit, by: { readonly opId: string | undefined; readonly atMs: number }): void {
    const { erase, archive, begin, put, messages, state, remember, next } = commit;
    const { opId = null } = { opId: by.opId };
    if (erase) for (const statement of this.#statements.erase) statement.run(this.#pk);
    if (archive !== undefined) {
      this.#statements.endGeneration.run(this.#pk, archive.generation, archive.count, by.atMs);
    }
    if (begin !== undefined) {
      const { generation, keepGeneration, keepCount } = begin;
      this.#statements.beginGeneration.run(this.#pk, generation, keepGeneration, keepCount, opId);
    }
    if (put !== undefined && opId !== null) this.#put(put, messages, opId);
    if (state !== undefined) this.#statements.addState.run(this.#pk, next.stateCursor, state);
    if (remember !== undefined && opId !== null) {
      const { digest, incarnation, head, added, stateCursor } = remember;
      const { generation, count, lastId } = head;
      const values = [digest, incarnation, generation, count, lastId, added, stateCursor];
      this.#statements.remember.run(this.#pk, opId, ...values);
    }
  }

  #put(at: { generation: number; start: number }, messages: readonly MessageBody[], opId: string): void {
    for (const [index, { id, body }] of messages.entries()) {
      this.#statements.addMessage.run(this.#pk, at.generation, at.start + index, id, opId, body);
    }
  }
}

const ROWS_AT_ONCE = 64;
/** No session has this key. */
const NO_SESSION = -1;

export function sessionRowOf(row: SqliteRow): SessionRow {
  return {
    incarnation: text(row, "incarnation"),
    deleted: number(row, "deleted") === 1,
    head: headOf(row),
    stateCursor: number(row, "state_cursor"),
    stateUpdates: number(row, "state_updates"),
    stateBytes: number(row, "state_bytes"),
    metadata: JSON.parse(text(row, "metadata")),
    archived: number(row, "archived") === 1,
    read: { generation: number(row, "read_generation"), count: number(row, "read_count") },
    updatedAtMs: number(row, "updated_at"),
    seq: number(row, "seq"),
  };
}

/** The values of a session's row in the order of the statements that write them. */
export function sessionValues(row: SessionRow): (string | number | null)[] {
  return [
    row.incarnation,
    row.deleted ? 1 : 0,
    row.head.generation,
    row.head.count,
    row.head.lastId,
    row.stateCursor,
    row.stateUpdates,
    row.stateBytes,
    JSON.stringify(row.metadata),
    row.archived ? 1 : 0,
    row.read.generation,
    row.read.count,
    row.updatedAtMs,
    row.seq,
  ];
}

function headOf(row: SqliteRow): SessionRow["head"] {
  const { last_id: lastId } = row;
  return {
    generation: number(row, "generation"),
    count: number(row, "count"),
    lastId: typeof lastId === "string" ? lastId : null,
  };
}

export function number(row: SqliteRow, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : 0;
}

export function text(row: SqliteRow, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : "";
}

function bytes(row: SqliteRow, column: string): Uint8Array {
  const value = row[column];
  // One of the modules gives Buffers: the same bytes, another way of writing themselves as JSON.
  return value instanceof Uint8Array
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array();
}
