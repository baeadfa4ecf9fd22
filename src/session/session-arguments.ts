import { InvalidInputError, invalidInput } from "../model/errors.ts";
import { checkId } from "../model/ids.ts";
import { copyJsonObject, type JsonObject, nameOf } from "../model/json.ts";
import type { Role } from "../model/message.ts";
import type { StreamOptions } from "./synced-write.ts";

/** State and metadata of a write, copied; undefined where they stay as they are stored. */
export interface Beside {
  readonly state: JsonObject | undefined;
  readonly metadata: JsonObject | undefined;
}

/** @throws InvalidInputError for state or metadata that is no JSON object. */
export function copyBeside(write: {
  readonly state?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;
}): Beside {
  const { state, metadata } = readObject(write, "write");
  return {
    state: state === undefined ? undefined : copyJsonObject(state, "state"),
    metadata: metadata === undefined ? undefined : copyJsonObject(metadata, "metadata"),
  };
}

/** An argument that must be an object. @throws InvalidInputError, naming it, for anything else. */
export function readObject<T extends object>(given: T, path: string): T {
  const value: unknown = given;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return given;
  throw invalidInput(path, `must be an object, not ${nameOf(value)}`);
}

/** The name of an operation, or none. @throws InvalidInputError for anything else. */
export function readOperation(given: unknown, path: string): string | undefined {
  if (given === undefined || typeof given === "string") return given;
  throw invalidInput(path, `must be text, not ${nameOf(given)}`);
}

/** Who writes a stream, and in which run. @throws InvalidInputError for what is neither. */
export function readStreamOptions(options: StreamOptions): {
  readonly role: Role;
  readonly runId: string | undefined;
  readonly id: string | undefined;
} {
  const { role = "assistant", runId, id } = readObject(options, "options");
  // System messages are never stored, and a tool's result is not text.
  if (role !== "assistant" && role !== "user" && role !== "developer")
    throw invalidInput("role", 'must be "assistant", "user" or "developer"');
  const named = (value: string | undefined, path: string): string | undefined =>
    value === undefined ? undefined : checkId(value, path);
  return { role, runId: named(runId, "runId"), id: named(id, "id") };
}

/** The number of a generation. @throws InvalidInputError for what is none. */
export function readGeneration(generation: number): number {
  if (Number.isSafeInteger(generation) && generation >= 0) return generation;
  throw new InvalidInputError("generation must be a whole number from 0", { path: "generation" });
}
