import { InvalidInputError, InvocationError } from "../../src/model/errors.ts";

/** The error of this kind that an act ends in; any other error passes through, and none is an error too. */
function refusalOf<Kind extends Error>(
  kind: abstract new (...args: never[]) => Kind,
  act: () => unknown,
): Kind {
  try {
    act();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** The InvalidInputError that an act ends in. */
export function invalidInputOf(act: () => unknown): InvalidInputError {
  return refusalOf(InvalidInputError, act);
}

/** The message of the InvocationError that an act ends in. */
export function invocationErrorOf(act: () => unknown): string {
  return refusalOf(InvocationError, act).message;
}
