import type { Awareness } from "y-protocols/awareness";
import type { Doc } from "yjs";
import { surface } from "../store/listeners.ts";

type Observers = ReadonlyMap<string, Iterable<(...args: unknown[]) => void>>;

/**
 * Has it tell all its observers, whatever one of them throws: left alone, a document would tell none of those behind it,
 * not the one that sends, and after that no observer of any later change.
 */
export function sturdy<T extends Doc | Awareness>(told: T): T {
  const emit = (name: string, args: readonly unknown[]): void => {
    for (const observer of [...((told._observers as Observers).get(name) ?? [])]) {
      try {
        observer(...args);
      } catch (error) {
        surface(error);
      }
    }
  };
  return Object.assign(told, { emit });
}
