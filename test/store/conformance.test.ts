import { describe, test } from "vitest";
import { DexieStore } from "../../src/store/dexie-store.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";
import { storeConformance } from "../../src/testing/store-conformance.ts";
import { fakeBrowser } from "../support/fake-browser.ts";

const stores = {
  MemoryStore: async () => new MemoryStore(),
  DexieStore: async () => new DexieStore({ name: "conformance", ...fakeBrowser() }),
};

for (const [name, makeStore] of Object.entries(stores)) {
  describe(`[T8] ${name} passes the suite that ships`, () => {
    for (const { name: rule, run } of storeConformance(makeStore)) test(rule, run);
  });
}
