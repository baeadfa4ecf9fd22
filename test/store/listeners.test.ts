import { afterEach, expect, test, vi } from "vitest";
import { tellAll } from "../../src/store/listeners.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("[H12] a listener that throws keeps nobody else from hearing; its error surfaces as an uncaught one", () => {
  const later: (() => void)[] = [];
  vi.stubGlobal("queueMicrotask", (run: () => void) => later.push(run));
  const heard: string[] = [];
  const listeners = [
    (text: string) => heard.push(`1 ${text}`),
    () => {
      throw new Error("the application's");
    },
    (text: string) => heard.push(`3 ${text}`),
  ];
  tellAll(listeners, "news");
  expect(heard).toEqual(["1 news", "3 news"]);
  expect(later).toHaveLength(1);
  expect(() => later[0]?.()).toThrow("the application's");
});
