import type { JsonObject } from "../model/json.ts";
import type { Schema } from "./database.ts";
import type { RunRow } from "./sync-rows.ts";

/** One session of a store that is its own record. */
export interface LocalSessionRow {
  readonly id: string;
  /** Whose it is; null for a session that was written without an actor. */
  readonly actorId: string | null;
  /** False for an id that an actor has claimed by loading it: there is no session yet. */
  readonly written: boolean;
  readonly generation: number;
  readonly count: number;
  readonly state: JsonObject;
  readonly metadata: JsonObject;
  /** The operation of the last write, where one was named. */
  readonly operationId?: string | undefined;
}

/** A replaced log; its messages stay in `runs`. */
export interface ArchivedRow {
  readonly session: string;
  readonly generation: number;
  readonly count: number;
  /** The operation of the replace that ended it, where one was named. */
  readonly operationId?: string | undefined;
}

/** A row that could not be read, kept as it was found when another had to take its place. */
export interface AsideRow {
  readonly session: string;
  readonly n: number;
  readonly row: unknown;
}

export interface LocalRows {
  sessions: LocalSessionRow;
  runs: RunRow;
  archived: ArchivedRow;
  aside: AsideRow;
}

export const LOCAL_SCHEMA: Schema<LocalRows> = {
  sessions: { key: ["id"] },
  runs: { key: ["session", "generation", "start"] },
  archived: { key: ["session", "generation"] },
  aside: { key: ["session", "n"] },
};
