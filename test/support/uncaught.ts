import { type Mock, vi } from "vitest";

/** What surfaces as an uncaught error from here on, until `vi.unstubAllGlobals`. */
export function watchUncaught(): Mock {
  const uncaught = vi.fn();
  const queue = globalThis.queueMicrotask;
  vi.stubGlobal("queueMicrotask", (run: () => void) => {
    queue(() => {
      try {
        run();
      } catch (error) {
        uncaught(error);
      }
    });
  });
  return uncaught;
}
