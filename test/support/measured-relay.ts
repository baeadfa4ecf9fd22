// A relay in a process of its own that tells what it takes: a test forks it, and asks it by messages.
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Doc } from "yjs";
import { createRelay, sqliteStorage } from "../../server/index.ts";

/** What a relay takes after a collection. Bytes. */
export interface Taken {
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Yjs documents. */
  readonly documents: number;
  /** Sockets, timers and whatever else keeps a process busy. */
  readonly handles: number;
}

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const { path, limits } = JSON.parse(process.argv[2] ?? "{}");

const events: string[] = [];
const relay = await createRelay({
  port: 0,
  storage: sqliteStorage({ path, durability: "process", maxCachedHeads: 100 }),
  limits,
  logger: {
    report: (_, event, detail) => events.push(`${event} ${JSON.stringify(detail?.code ?? null)}`),
  },
});
process.on("message", (asked: "taken" | "events" | "resident") => {
  if (asked === "events") process.send?.(events);
  else if (asked === "resident") process.send?.(process.memoryUsage.rss());
  else process.send?.(taken());
});
process.on("disconnect", () => void relay.close().finally(() => process.exit()));
process.send?.(relay.url);

function taken(): Taken {
  // Twice: what the first lets go of may hold on to more.
  collect();
  collect();
  return {
    heapBytes: process.memoryUsage().heapUsed,
    residentBytes: process.memoryUsage.rss(),
    documents: Number(queryObjects(Doc, { format: "count" } as never)),
    handles: process.getActiveResourcesInfo().length,
  };
}
