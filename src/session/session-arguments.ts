import { invalidInput } from "../model/errors.ts";
import { copyJsonObject, type JsonObject, nameOf } from "../model/json.ts";

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
