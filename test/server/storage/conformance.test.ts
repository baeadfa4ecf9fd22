import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { relayStorageConformance } from "../../../server/storage/conformance.ts";
import type { RelayStorage } from "../../../server/storage/contract.ts";
import { memoryStorage } from "../../../server/storage/memory.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-storage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const storages: { name: string; make: () => Promise<RelayStorage> }[] = [
  { name: "memory", make: async () => memoryStorage() },
  {
    name: "SQLite",
    make: async () => {
      files += 1;
      return sqliteStorage({ path: join(folder, `${files}.db`) });
    },
  },
];

describe.each(storages)("the $name storage", ({ make }) => {
  for (const { name, run } of relayStorageConformance(make)) test(name, run);
});
