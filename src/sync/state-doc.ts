import { Doc } from "yjs";
import { surface } from "../store/listeners.ts";

/**
 * A document that tells all its observers, whatever one of them throws: Yjs alone would tell none of those behind it, not
 * the one that sends, and after that no observer of any later change.
 */
export class SturdyDoc extends Doc {
  override emit(name: Parameters<Doc["emit"]>[0], args: Parameters<Doc["emit"]>[1]): void {
    const observers: Iterable<(...args: unknown[]) => void> = this._observers.get(name) ?? [];
    for (const observer of [...observers]) {
      try {
        observer(...(args as unknown[]));
      } catch (error) {
        surface(error);
      }
    }
  }
}
