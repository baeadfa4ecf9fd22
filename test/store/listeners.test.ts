import { afterEach, expect, test, vi } from "vitest";
import { Listeners } from "../../src/store/listeners.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("[H12] a listener that throws keeps nobody else from hearing; its error surfaces as an uncaught one", () => {
  const later: (() => void)[] = [];
  vi.stubGlobal("queueMicrotask", (run: () => void) => later.push(run));
  const heard: string[] = [];
  const listeners = new Listeners<[string]>();
  listeners.add((text) => heard.push(`1 ${text}`));
  listeners.add(() => {
    throw new Error("the application's");
  });
  listeners.add((text) => heard.push(`3 ${text}`));
  const end = listeners.add((text) => heard.push(`4 ${text}`));
  end();
  listeners.tell("news");
  expect(heard).toEqual(["1 news", "3 news"]);
  expect(later).toHaveLength(1);
  expect(() => later[0]?.()).toThrow("the application's");
});
