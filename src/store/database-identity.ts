import type { Dexie } from "dexie";
import { newId } from "../model/ids.ts";

/**
 * Where each database notes which life of it this is (one deleted and made anew behind our back is another), and in each
 * transaction that writes, as its last step, which one it was: so that one whose end was not told is known to have happened.
 */
export const IDENTITY_TABLE = "holdfast";

/**
 * Which life of the database this is: one deleted and made anew behind our back has another identity. One that is new is
 * given its identity, unless it is `known` which it should have.
 */
export async function identityOf(dexie: Dexie, known: string | undefined): Promise<string | undefined> {
  const table = dexie.table<{ key: string; id: string }, string>(IDENTITY_TABLE);
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
