import { LOG_CASES } from "./conformance-log.ts";
import { READING_CASES } from "./conformance-reading.ts";
import { SESSION_CASES } from "./conformance-sessions.ts";
import { testHost } from "./conformance-tools.ts";
import type { RelayStorage } from "./contract.ts";

/** One test of the suite: a name that leads with its rule, and what any test runner awaits. */
export interface StorageCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * What every relay storage must do. `make` gives a new, empty storage, not yet opened; each test makes its own and
 * closes it.
 */
export function relayStorageConformance(make: () => Promise<RelayStorage>): StorageCase[] {
  return [...LOG_CASES, ...SESSION_CASES, ...READING_CASES].map(({ name, limits, check }) => ({
    name,
    run: async () => {
      const storage = await make();
      const host = testHost(limits);
      const { storeId } = await storage.open(host);
      const reopen = async (): Promise<void> => {
        await storage.close();
        const again = await storage.open(host);
        if (again.storeId !== storeId) throw new Error("The store has another id after it was opened again");
      };
      try {
        await check({ storage, reopen });
      } finally {
        await storage.close();
      }
    },
  }));
}
