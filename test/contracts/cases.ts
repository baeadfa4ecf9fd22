import { type JsonValue, jsonEquals } from "../../src/model/json.ts";

/** One rule of a contract, for any test runner, or none: a page runs them too. */
export interface Case {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Fails unless both are the same data. Bytes count as their numbers, undefined as itself. */
export function same(actual: unknown, expected: unknown): void {
  if (jsonEquals(plain(actual), plain(expected))) return;
  throw new Error(`expected ${JSON.stringify(plain(expected))}, got ${JSON.stringify(plain(actual))}`);
}

/** What a promise was rejected with. Fails when it was not. */
export async function refused(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a refusal, got ${JSON.stringify(value)}`);
}

function plain(value: unknown): JsonValue {
  if (value instanceof Uint8Array) return { bytes: [...value] };
  if (value === undefined) return { undefined: true };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
