import { StorageError } from "../model/errors.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import type { Damage } from "../model/snapshot.ts";
import type { Reader, Writer } from "./database.ts";
import type { LocalRows, LocalSessionRow } from "./local-rows.ts";

/** A session's row with every field readable, and what had to be made up for that (T7). */
export interface SoundSession {
  readonly row: LocalSessionRow;
  readonly damaged: readonly Damage[];
}

/** The place named for damage that is not of one message. */
const WHOLE_SESSION = -1;

/**
 * The session's row. What of it cannot be read is taken from the log, or is empty, and is reported; a session whose
 * owner cannot be told is not handed to anybody.
 * @throws StorageError `corrupt` for messages without a row that says whose they are.
 */
export async function readSession(tx: Reader<LocalRows>, id: string): Promise<SoundSession | undefined> {
  const row: { readonly [Field in keyof LocalSessionRow]?: unknown } | undefined = await tx.get("sessions", [
    id,
  ]);
  if (row !== undefined && isSound(row)) return { row, damaged: [] };
  const [last] = await tx.list("runs", { prefix: [id], reverse: true, limit: 1 });
  if (row === undefined && last === undefined) return undefined;
  const actorId = row?.actorId;
  if (actorId !== null && typeof actorId !== "string") {
    throw new StorageError("The session's row is lost, and with it whose it is", { reason: "corrupt" });
  }
  const damaged: Damage[] = [];
  const read = <T>(field: string, value: unknown, fits: (value: unknown) => boolean, instead: T): T => {
    if (fits(value)) return value as T;
    damaged.push({ index: WHOLE_SESSION, reason: `The session's ${field} could not be read` });
    return instead;
  };
  const generation = read("generation", row?.generation, isCount, last?.generation ?? 0);
  const held =
    last?.generation === generation && Array.isArray(last.messages) ? last.start + last.messages.length : 0;
  const sound = {
    id,
    actorId,
    written: row?.written !== false || last !== undefined,
    generation,
    count: read("count", row?.count, isCount, held),
    state: read<JsonObject>("state", row?.state, isPlainObject, {}),
    metadata: read<JsonObject>("metadata", row?.metadata, isPlainObject, {}),
  };
  return { row: sound, damaged };
}

/** Stores a session's row. One that was damaged is set aside first, as it was found. */
export async function putSession(
  tx: Writer<LocalRows>,
  row: LocalSessionRow,
  before: SoundSession | undefined,
): Promise<void> {
  if (before !== undefined && before.damaged.length > 0) {
    const [last] = await tx.list("aside", { prefix: [row.id], reverse: true, limit: 1 });
    await tx.put("aside", {
      session: row.id,
      n: (last?.n ?? 0) + 1,
      row: await tx.get("sessions", [row.id]),
    });
  }
  await tx.put("sessions", row);
}

function isSound(row: { readonly [Field in keyof LocalSessionRow]?: unknown }): row is LocalSessionRow {
  return (
    (row.actorId === null || typeof row.actorId === "string") &&
    typeof row.written === "boolean" &&
    isCount(row.generation) &&
    isCount(row.count) &&
    isPlainObject(row.state) &&
    isPlainObject(row.metadata)
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
