import type { Welcome } from "../wire/hello.ts";
import type { Writer } from "./database.ts";
import { recheckAll } from "./restored-relay.ts";
import type { SyncRows } from "./sync-rows.ts";

/** Takes note of the relay's storage and limits, and tells from where to read its catalog (rule P7). */
export async function greet(tx: Writer<SyncRows>, welcome: Welcome): Promise<number> {
  const storeId = (await tx.get("meta", ["storeId"]))?.value;
  const cursor = (await tx.get("meta", ["cursor"]))?.value;
  await tx.put("meta", { key: "limits", value: welcome.limits });
  if (storeId === welcome.storeId && typeof cursor === "number" && cursor <= welcome.cursor) return cursor;
  await recheckAll(tx);
  await tx.put("meta", { key: "storeId", value: welcome.storeId });
  await tx.put("meta", { key: "cursor", value: 0 });
  return 0;
}
