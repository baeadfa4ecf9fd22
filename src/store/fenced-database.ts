import type { LocalDatabase, Reader } from "./database.ts";
import type { SyncRows } from "./sync-rows.ts";

/** Another tab has become the one that speaks to the relay: nothing was read or written. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/**
 * The database as the leading tab sees it: every transaction first looks whether the epoch is still its own. A tab that
 * was frozen while another took over (C38) finds out by the first thing it does, in the same transaction, and does it
 * not. `lost` is told each time.
 */
export function fencedDatabase(
  db: LocalDatabase<SyncRows>,
  epoch: number,
  lost: () => void,
): LocalDatabase<SyncRows> {
  const look = async (tx: Reader<SyncRows>): Promise<void> => {
    if ((await readEpoch(tx)) === epoch) return;
    lost();
    throw new FencedError(`Epoch ${epoch} is over`);
  };
  return {
    read: (tables, work) =>
      db.read(withMeta(tables), async (tx) => {
        await look(tx);
        return work(tx);
      }),
    write: (tables, work) =>
      db.write(withMeta(tables), async (tx) => {
        await look(tx);
        return work(tx);
      }),
    watch: (listener) => db.watch(listener),
    close: () => db.close(),
    destroy: () => db.destroy(),
  };
}

/** The epoch that stands; 0 before the first. */
export function heldEpoch(db: LocalDatabase<SyncRows>): Promise<number> {
  return db.read(["meta"], readEpoch);
}

async function readEpoch(tx: Reader<SyncRows>): Promise<number> {
  const held = (await tx.get("meta", ["epoch"]))?.value;
  return typeof held === "number" ? held : 0;
}

/** Takes the epoch after the one that is doubted, unless another has taken it; tells which stands now. */
export function claimEpoch(
  db: LocalDatabase<SyncRows>,
  doubted: number,
): Promise<{ readonly claimed: boolean; readonly standing: number }> {
  return db.write(["meta"], async (tx) => {
    const held = await readEpoch(tx);
    if (held > doubted) return { claimed: false, standing: held };
    await tx.put("meta", { key: "epoch", value: doubted + 1 });
    return { claimed: true, standing: doubted + 1 };
  });
}

/**
 * Takes the next epoch, or the claimed one while it stands: whoever had the one before is fenced off. It is later than
 * `latest` too, which a database that was emptied meanwhile has forgotten.
 */
export function nextEpoch(
  db: LocalDatabase<SyncRows>,
  known: { readonly latest: number; readonly claimed?: number | undefined },
): Promise<number> {
  return db.write(["meta"], async (tx) => {
    const held = await readEpoch(tx);
    if (held === known.claimed) return held;
    const epoch = Math.max(held, known.latest) + 1;
    await tx.put("meta", { key: "epoch", value: epoch });
    return epoch;
  });
}

function withMeta(tables: readonly (keyof SyncRows & string)[]): (keyof SyncRows & string)[] {
  return tables.includes("meta") ? [...tables] : [...tables, "meta"];
}
