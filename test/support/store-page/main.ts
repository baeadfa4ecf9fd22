// The stores and their suites inside a real page, where a test outside of it can run each case by its name.
import { browserTabs } from "../../../src/env/browser.ts";
import { createMessage, serializeMessage } from "../../../src/model/message.ts";
import { DexieDatabase } from "../../../src/store/dexie-database.ts";
import { DexieStore } from "../../../src/store/dexie-store.ts";
import { storeConformance } from "../../../src/testing/store-conformance.ts";
import type { Case } from "../../contracts/cases.ts";
import { localDatabaseCases } from "../../contracts/local-database.ts";
import { TEST_SCHEMA, type TestRows } from "../../contracts/test-rows.ts";

let places = 0;
const suites: Readonly<Record<string, readonly Case[]>> = {
  database: localDatabaseCases(async () => {
    places += 1;
    const options = { name: `place-${places}`, tabs: browserTabs() };
    return {
      open: async () => new DexieDatabase<TestRows>(TEST_SCHEMA, options),
      delivered: () => new Promise((resolve) => setTimeout(resolve, 50)),
    };
  }),
  store: storeConformance(async () => {
    places += 1;
    return new DexieStore({ name: `store-${places}` });
  }),
};

const page = {
  names: (suite: string): string[] => (suites[suite] ?? []).map(({ name }) => name),
  /** Runs one case; gives its failure as text, or "". */
  run: async (suite: string, name: string): Promise<string> => {
    const found = suites[suite]?.find((one) => one.name === name);
    if (found === undefined) return `there is no ${suite} case ${name}`;
    return found.run().then(
      () => "",
      (error: unknown) => String(error),
    );
  },
  openStore: (name: string): DexieStore => new DexieStore({ name }),
  openDatabase: (name: string): DexieDatabase<TestRows> =>
    new DexieDatabase<TestRows>(TEST_SCHEMA, { name, tabs: browserTabs() }),
  /** Databases and what they told, kept for the next call from outside. */
  kept: {} as Record<string, unknown>,
  createMessage,
  serializeMessage,
};

export type StorePage = typeof page;
declare global {
  interface Window {
    stores: StorePage;
  }
}
window.stores = page;
document.documentElement.dataset.ready = "true";
