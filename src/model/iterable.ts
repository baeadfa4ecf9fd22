import { invalidInput } from "./errors.ts";
import { nameOf } from "./json.ts";

/** The value itself, when it can be iterated over and is no text. @throws InvalidInputError otherwise, naming `path`. */
export function checkIterable<T>(value: Iterable<T>, path: string): Iterable<T> {
  const given: unknown = value;
  if (
    typeof given === "object" &&
    given !== null &&
    typeof Reflect.get(given, Symbol.iterator) === "function"
  ) {
    return value;
  }
  throw invalidInput(path, `must be an array of messages, not ${nameOf(given)}`);
}
