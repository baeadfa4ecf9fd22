import { InvalidInputError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { LocalDatabase } from "./database.ts";
import type { Generation } from "./live-store.ts";
import { readMessages } from "./log-rows.ts";
import { isAbsent } from "./session-rows.ts";
import type { SyncRows } from "./sync-rows.ts";

/** The branches of a session that are held on this device, oldest first. */
export function heldGenerations(
  db: LocalDatabase<SyncRows>,
  session: string,
): Promise<{ readonly incarnation: string | null; readonly generations: readonly Generation[] }> {
  return db.read(["sessions", "generations"], async (tx) => {
    const row = await tx.get("sessions", [session]);
    if (row === undefined || isAbsent(row)) return { incarnation: null, generations: [] };
    const { incarnation, head } = row;
    const rows = await tx.list("generations", { prefix: [session] });
    const archived = rows
      .filter(({ whole }) => whole)
      .map(({ generation, count, replacedAt }) => ({ generation, count, replacedAt, current: false }));
    const current = { generation: head.generation, count: head.count, current: true };
    return { incarnation, generations: [...archived, current] };
  });
}

/** The serialised messages of one generation, where this device holds them; the life they are of. */
export function heldGeneration(
  db: LocalDatabase<SyncRows>,
  session: string,
  generation: number,
): Promise<{ readonly incarnation: string | null; readonly messages?: readonly (JsonObject | undefined)[] }> {
  return db.read(["sessions", "runs", "generations"], async (tx) => {
    const row = await tx.get("sessions", [session]);
    if (row === undefined || isAbsent(row)) return { incarnation: null };
    const { incarnation, head } = row;
    const archived = await tx.get("generations", [session, generation]);
    const whole = archived?.whole === true ? archived.count : undefined;
    const count = generation === head.generation ? head.count : whole;
    if (count === undefined) return { incarnation };
    return { incarnation, messages: await readMessages(tx, session, { generation, from: 0, to: count }) };
  });
}

export function noGeneration(generation: number, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`There is no generation ${generation}`, { path: "generation", cause });
}
