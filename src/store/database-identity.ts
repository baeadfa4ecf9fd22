import type { Dexie } from "dexie";
import { newId } from "../model/ids.ts";

/**
 * Which life of the database this is: one deleted and made anew behind our back has another identity. One that is new is
 * given its identity, unless it is `known` which it should have.
 */
export async function identityOf(
  dexie: Dexie,
  name: string,
  known: string | undefined,
): Promise<string | undefined> {
  const table = dexie.table<{ key: string; id: string }, string>(name);
  const found = (await table.get("identity"))?.id;
  if (found !== undefined || known !== undefined) return found;
  const own = newId();
  // One transaction: of tabs that open a new database at the same moment one names it.
  return dexie.transaction("rw", table, async () => {
    const held = await table.get("identity");
    if (held === undefined) await table.add({ key: "identity", id: own });
    return held?.id ?? own;
  });
}
