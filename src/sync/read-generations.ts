import { HoldfastError, RejectedError } from "../model/errors.ts";
import { type Message, parseMessage } from "../model/message.ts";
import type { LocalDatabase } from "../store/database.ts";
import { heldGeneration, heldGenerations, noGeneration } from "../store/held-generations.ts";
import type { Generation } from "../store/live-store.ts";
import { parseLog } from "../store/stored-log.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import type { Connected } from "./until.ts";

interface From {
  readonly db: LocalDatabase<SyncRows>;
  readonly connected: Connected;
}

/** The branches of a session, oldest first: the relay's, or without it those that are held here. */
export async function readGenerations({ db, connected }: From, id: string): Promise<readonly Generation[]> {
  const held = await heldGenerations(db, id);
  if (held.incarnation === null) return held.generations;
  try {
    return await connected.generations(id, held.incarnation);
  } catch (error) {
    // Without the relay, what is held here is told.
    if (!(error instanceof HoldfastError)) throw error;
    return held.generations;
  }
}

/** The messages of one branch. @throws InvalidInputError when there is none such. */
export async function readGenerationMessages(
  { db, connected }: From,
  id: string,
  generation: number,
): Promise<readonly Message[]> {
  const { incarnation, messages } = await heldGeneration(db, id, generation);
  if (messages !== undefined) return parseLog(messages, 0).messages;
  if (incarnation === null) throw noGeneration(generation);
  try {
    const told = await connected.generationMessages(id, incarnation, generation);
    return told.map(parseMessage);
  } catch (error) {
    throw error instanceof RejectedError ? noGeneration(generation, error) : error;
  }
}
