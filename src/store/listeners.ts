import { invalidInput } from "../model/errors.ts";
import { nameOf } from "../model/json.ts";

/** Tells all listeners. What one of them throws is the application's: it surfaces as an uncaught error and stops nothing here. */
export function tellAll<T extends readonly unknown[]>(
  listeners: Iterable<(...args: T) => void>,
  ...args: T
): void {
  for (const listener of [...listeners]) {
    try {
      listener(...args);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** A listener as it was given. @throws InvalidInputError for what cannot be called. */
export function readListener<T extends (...args: never[]) => void>(given: T): T {
  const value: unknown = given;
  if (typeof value === "function") return given;
  throw invalidInput("listener", `must be a function, not ${nameOf(value)}`);
}
