import { openRaw } from "../ref/indexeddb.ts";
import { msOf, sizes, text } from "./timing.ts";

const row = (index: number) => ({
  id: `m-${index}`,
  body: JSON.stringify({
    id: `m-${index}`,
    role: "user",
    content: [{ type: "text", text: text(index) }],
    metadata: {},
    createdAt: "2026-01-01T00:00:00.000Z",
  }),
});

/** Raw IndexedDB: rows, and nothing else. */
export async function measureLimit(): Promise<Record<string, number>> {
  const rows = Array.from({ length: sizes.log }, (_, index) => row(index));
  let database = await openRaw("limit");
  for (let at = 0; at < rows.length; at += 1000) await database.append(at, rows.slice(at, at + 1000));
  let next = rows.length;
  const appendMs = await msOf(sizes.singles, () => database.append(next++, [row(next)]));
  const burstMs = await msOf(sizes.bursts, () => {
    const burst = Array.from({ length: sizes.burst }, (_, index) => row(next + index));
    const written = database.append(next, burst);
    next += sizes.burst;
    return written;
  });
  const last50Ms = await msOf(sizes.reads, () => database.last(50));
  const reopenMs = await msOf(sizes.reopens, async () => {
    database.close();
    database = await openRaw("limit");
    if ((await database.last(50)) !== 50) throw new Error("rows are missing");
  });
  const importMs = await msOf(1, () => database.importSegments(rows));
  const readAllMs = await msOf(3, async () => {
    if ((await database.readSegments()) !== sizes.log) throw new Error("segments are missing");
  });
  database.close();
  return {
    appends: 1000 / appendMs,
    burst: (1000 * sizes.burst) / burstMs,
    importMs,
    last50Ms,
    reopenMs,
    readAllMs,
    viewMs: appendMs,
  };
}
