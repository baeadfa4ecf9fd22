import { HoldfastError, type HoldfastErrorCode } from "../model/errors.ts";
import { type JsonValue, jsonEquals } from "../model/json.ts";

/** Fails with the text unless the condition holds. For suites that run under any test runner, or none. */
export function claim(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Error(text);
}

/** Fails unless two pieces of JSON are the same data, whatever the order of keys. */
export function claimEqual(actual: unknown, expected: JsonValue, what: string): void {
  if (jsonEquals(actual as JsonValue, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** Fails unless the call is refused with an error of this library that has this code; gives the error. */
export async function claimRefused(
  call: () => Promise<unknown>,
  code: HoldfastErrorCode,
  what: string,
): Promise<HoldfastError> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    if (error instanceof HoldfastError && error.code === code) return error;
    throw new Error(`${what}: expected a refusal "${code}", got ${String(error)}`, { cause: error });
  }
  throw new Error(`${what}: expected a refusal "${code}", got ${JSON.stringify(answer)}`);
}
