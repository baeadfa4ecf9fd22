import { invalidInput } from "../model/errors.ts";
import { checkId } from "../model/ids.ts";
import { copyJsonObject, freezeJson, type JsonObject, nameOf } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { persistable } from "../model/persistable.ts";
import type { Revision } from "../model/revision.ts";
import type { AppendWrite, ReplaceWrite, Scope } from "./contract.ts";

/** What a caller gave to write: copied, frozen, and without what may not be stored (T4). */
export interface CheckedWrite {
  readonly actorId: string | undefined;
  readonly messages: readonly Message[];
  readonly state: JsonObject;
  readonly metadata: JsonObject;
}

/** @throws InvalidInputError for a session's id or an actor that cannot be one. */
export function checkScope(id: unknown, scope: Scope): string | undefined {
  checkId(id, "id");
  const { actorId } = readObject(scope, "scope");
  return actorId === undefined ? undefined : checkId(actorId, "actorId");
}

/** @throws InvalidInputError for what cannot be run. */
export function checkWork(work: unknown): void {
  if (typeof work !== "function") throw invalidInput("work", `must be a function, not ${nameOf(work)}`);
}

/** @throws InvalidInputError that names what cannot be stored or is missing. */
export function checkAppend(
  id: unknown,
  write: AppendWrite,
): CheckedWrite & { readonly expectedCount: number; readonly expectedGeneration: number | undefined } {
  const checked = checkWrite(id, write);
  const { expectedCount, expectedGeneration } = write;
  return {
    ...checked,
    expectedCount: checkCount(expectedCount, "expectedCount"),
    expectedGeneration:
      expectedGeneration === undefined ? undefined : checkCount(expectedGeneration, "expectedGeneration"),
  };
}

/** @throws InvalidInputError that names what cannot be stored or is missing. */
export function checkReplace(
  id: unknown,
  write: ReplaceWrite,
): CheckedWrite & { readonly expected: Revision | undefined } {
  const checked = checkWrite(id, write);
  const { expected } = write;
  return { ...checked, expected: expected === undefined ? undefined : checkRevision(expected) };
}

/** A revision, copied. @throws InvalidInputError for what is none. */
export function checkRevision(given: unknown): Revision {
  const { generation, count } = readObject(given as Revision, "expected");
  return {
    generation: checkCount(generation, "expected.generation"),
    count: checkCount(count, "expected.count"),
  };
}

/** @throws InvalidInputError for a message whose id stands in the log already, or twice among those given (M9). */
export function refuseKnownIds(messages: readonly Message[], known: ReadonlySet<string>): void {
  const own = new Set<string>();
  for (const [index, { id }] of messages.entries()) {
    if (known.has(id)) throw invalidInput(`messages[${index}].id`, "is in the log already");
    if (own.has(id)) throw invalidInput(`messages[${index}].id`, "is given twice");
    own.add(id);
  }
}

function checkWrite(id: unknown, write: AppendWrite | ReplaceWrite): CheckedWrite {
  const actorId = checkScope(id, readObject(write, "write"));
  const { messages, state, metadata } = write;
  return {
    actorId,
    messages: persistable(messages),
    state: freezeJson(copyJsonObject(state, "state")),
    metadata: freezeJson(copyJsonObject(metadata, "metadata")),
  };
}

/** @throws InvalidInputError, naming it, for what is no object. */
export function readObject<T extends object>(given: T, path: string): T {
  const value: unknown = given;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return given;
  throw invalidInput(path, `must be an object, not ${nameOf(value)}`);
}

function checkCount(given: unknown, path: string): number {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number;
  throw invalidInput(path, "must be a whole number from 0");
}
