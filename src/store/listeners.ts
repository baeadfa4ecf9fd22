import { invalidInput } from "../model/errors.ts";
import { nameOf } from "../model/json.ts";

/**
 * Who is to be told of changes. The same function added twice is told twice, and ends one by one. What one of them throws
 * is the application's: it surfaces as an uncaught error and stops nothing here.
 */
export class Listeners<T extends readonly unknown[] = []> {
  readonly #added = new Set<(...args: T) => void>();

  /** @returns ends it. @throws InvalidInputError for what cannot be called. */
  add(listener: (...args: T) => void): () => void {
    const told = readListener(listener);
    const own = (...args: T): void => told(...args);
    this.#added.add(own);
    return () => this.#added.delete(own);
  }

  tell(...args: T): void {
    for (const listener of [...this.#added]) {
      try {
        listener(...args);
      } catch (error) {
        surface(error);
      }
    }
  }

  clear(): void {
    this.#added.clear();
  }

  get size(): number {
    return this.#added.size;
  }
}

/** What an application's callback threw becomes an uncaught error, and stops nothing here. */
export function surface(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** A listener as it was given. @throws InvalidInputError for what cannot be called. */
export function readListener<T extends readonly unknown[]>(
  given: (...args: T) => void,
): (...args: T) => void {
  const value: unknown = given;
  if (typeof value === "function") return given;
  throw invalidInput("listener", `must be a function, not ${nameOf(value)}`);
}
