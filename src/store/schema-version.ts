import { StorageError } from "../model/errors.ts";
import type { LocalDatabase } from "./database.ts";
import { SYNC_SCHEMA_VERSION, type SyncRows } from "./sync-rows.ts";

/** Checks that this code may write to the database, and marks it as its own. @throws StorageError `upgrade-required`. */
export async function checkSchema(db: LocalDatabase<SyncRows>): Promise<void> {
  await db.write(["meta"], async (tx) => {
    const version = (await tx.get("meta", ["schemaVersion"]))?.value;
    if (typeof version === "number" && version > SYNC_SCHEMA_VERSION) {
      throw new StorageError("The local database was written by a newer version: reload the page", {
        reason: "upgrade-required",
      });
    }
    if (version !== SYNC_SCHEMA_VERSION)
      await tx.put("meta", { key: "schemaVersion", value: SYNC_SCHEMA_VERSION });
  });
}
