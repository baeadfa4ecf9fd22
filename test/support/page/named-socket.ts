// A WebSocket whose address tells a recorder which tab it belongs to, and in which epoch that tab leads.
import { Dexie } from "dexie";

/** The epoch that stands in this origin's only database of sessions. */
async function readEpoch(): Promise<number> {
  const found = (await indexedDB.databases()).find(({ name }) => name?.startsWith("holdfast") === true);
  const db = new Dexie(found?.name ?? "");
  await db.open();
  const row: { value: number } | undefined = await db.table("meta").get("epoch");
  db.close();
  return row?.value ?? 0;
}

/** The sockets of a tab: the first is `tab.1`, the next `tab.2`. */
export function namedSockets(tab: string): typeof WebSocket {
  let sockets = 0;
  return class extends WebSocket {
    constructor(url: string | URL) {
      sockets += 1;
      const name = `${tab}.${sockets}`;
      super(`${url}/?socket=${name}`);
      void readEpoch().then((epoch) => {
        const told = new WebSocket(`${url}/epoch?socket=${name}&epoch=${epoch}`);
        told.onopen = () => told.close();
      });
    }
  };
}
