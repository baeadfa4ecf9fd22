import type { Dexie } from "dexie";
import { newId } from "../model/ids.ts";

/**
 * Where each database notes which life of it this is (one deleted and made anew behind our back is another), and in each
 * transaction that writes, as its last step, which one it was: so that one whose end was not told is known to have happened.
 */
export const IDENTITY_TABLE = "holdfast";

/** Whether its owner is deleting the database. */
const DESTROYED = "destroyed";

/**
 * Which life of the database this is: one deleted and made anew behind our back has another identity. One that is new is
 * given its identity, unless it is `known` which it should have.
 */
export async function identityOf(dexie: Dexie, known: string | undefined): Promise<string | undefined> {
  const table = dexie.table<{ key: string; id: string }, string>(IDENTITY_TABLE);
  const found = (await table.get("identity"))?.id;
  // A deletion that was begun in an earlier life of this page, and never done.
  if (known === undefined && (await isDestroyed(dexie))) await table.delete(DESTROYED);
  if (found !== undefined || known !== undefined) return found;
  const own = newId();
  // One transaction: of tabs that open a new database at the same moment one names it.
  return dexie.transaction("rw", table, async () => {
    const held = await table.get("identity");
    if (held === undefined) await table.add({ key: "identity", id: own });
    return held?.id ?? own;
  });
}

/** Notes that the database is about to be deleted by whoever owns it: a logout, and nothing to begin anew after. */
export async function markDestroyed(dexie: Dexie): Promise<void> {
  await dexie.table(IDENTITY_TABLE).put({ key: DESTROYED });
}

/** Whether that was noted. A tab that is told of a deletion can still look: the deletion waits for its connection. */
export async function isDestroyed(dexie: Dexie): Promise<boolean> {
  return (await dexie.table(IDENTITY_TABLE).get(DESTROYED)) !== undefined;
}
