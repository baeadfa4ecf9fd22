import type { Server } from "./servers.ts";
import { type Kind, load, startServer } from "./servers.ts";

/** Figures of one side in one round, by name. */
export type Figures = Record<string, number>;

/** One line of the table: ours against the limit, in the same round. */
export interface Row {
  readonly id: string;
  readonly what: string;
  /** What is compared; `of` names a figure, `against` the other side's, the same name where absent. */
  readonly of: string;
  readonly better: "more" | "less";
  readonly target: number;
  readonly unit: string;
}

export const relayRows: readonly Row[] = [
  {
    id: "R1",
    what: "durable appends/s, 100 writers × 16 in flight",
    of: "appends100x16",
    better: "more",
    target: 0.65,
    unit: "/s",
  },
  {
    id: "R2",
    what: "durable appends/s, 100 × 1",
    of: "appends100x1",
    better: "more",
    target: 0.85,
    unit: "/s",
  },
  { id: "R3", what: "durable appends/s, 1 × 1", of: "appends1x1", better: "more", target: 0.85, unit: "/s" },
  ...["1x1", "10x1", "100x1"].map(
    (load): Row => ({
      id: "R4",
      what: `appends/s with process durability, ${load.replace("x", " × ")}`,
      of: `process${load}`,
      better: "more",
      target: 0.9,
      unit: "/s",
    }),
  ),
  { id: "R5", what: "CPU per append, 100 × 16", of: "cpu100x16", better: "less", target: 1.5, unit: "µs" },
  { id: "R6", what: "delivery at 1,000/s, p50", of: "p50at1000", better: "less", target: 1.3, unit: "ms" },
  { id: "R6", what: "delivery at 1,000/s, p99", of: "p99at1000", better: "less", target: 1.25, unit: "ms" },
  { id: "R6", what: "delivery at 4,000/s, p50", of: "p50at4000", better: "less", target: 1.3, unit: "ms" },
  { id: "R6", what: "delivery at 4,000/s, p99", of: "p99at4000", better: "less", target: 1.25, unit: "ms" },
  { id: "R9", what: "catch-up of 10,000, warm", of: "warmMs", better: "less", target: 1.4, unit: "ms" },
  { id: "R9", what: "catch-up of 10,000, cold", of: "coldMs", better: "less", target: 1.4, unit: "ms" },
  { id: "R9", what: "the last 50 of 10,000", of: "tailMs", better: "less", target: 1.5, unit: "ms" },
];

/** Lines that ours is held to by itself: a ratio within one side. */
export const ownRows: readonly Row[] = [
  {
    id: "R10",
    what: "bytes of a catch-up, to its JSON",
    of: "bytesToJson",
    better: "less",
    target: 1.01,
    unit: "",
  },
  {
    id: "R11",
    what: "reconnect, 3 of 1,000 changed: exchanges",
    of: "exchanges",
    better: "less",
    target: 4,
    unit: "",
  },
  {
    id: "R11",
    what: "its bytes at 1,000 sessions, to those at 100",
    of: "bytesFlat",
    better: "less",
    target: 1.05,
    unit: "",
  },
];

const seconds = 1.2;

async function measured<T>(
  kind: Kind,
  work: (server: Server) => Promise<T>,
  durability: "power" | "process" = "power",
): Promise<T> {
  const server = await startServer(kind, durability);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

/** Every relay figure of one side, each from a fresh process and folder. */
export async function relayFigures(kind: Kind): Promise<Figures> {
  const figures: Figures = {};
  for (const [writers, inFlight] of [
    [1, 1],
    [100, 1],
    [100, 16],
  ] as const) {
    const seen = await measured(kind, (server) =>
      load({ task: "closed", writers, inFlight, seconds }, kind, server),
    );
    const name = `${writers}x${inFlight}`;
    figures[`appends${name}`] = seen.perSecond ?? Number.NaN;
    figures[`cpu${name}`] = ((seen.serverCpuMs ?? Number.NaN) * 1000) / (seen.appends ?? Number.NaN);
    figures[`load${name}`] = seen.loadCpu ?? Number.NaN;
  }
  for (const writers of [1, 10, 100]) {
    const task = { task: "closed", writers, inFlight: 1, seconds } as const;
    const seen = await measured(kind, (server) => load(task, kind, server), "process");
    figures[`process${writers}x1`] = seen.perSecond ?? Number.NaN;
  }
  for (const rate of [1000, 4000]) {
    const seen = await measured(kind, (server) =>
      load({ task: "paced", writers: 100, rate, seconds }, kind, server),
    );
    if (seen.lost !== 0) throw new Error(`${kind} at ${rate}/s: ${seen.lost} appends were not delivered.`);
    figures[`p50at${rate}`] = seen.p50 ?? Number.NaN;
    figures[`p99at${rate}`] = seen.p99 ?? Number.NaN;
  }
  await measured(kind, async (server) => {
    await load({ task: "fill", messages: 10_000 }, kind, server);
    const warm = await load({ task: "catch-up" }, kind, server);
    await server.restart();
    const cold = await load({ task: "catch-up" }, kind, server);
    figures.warmMs = warm.allMs ?? Number.NaN;
    figures.coldMs = cold.allMs ?? Number.NaN;
    figures.tailMs = warm.tailMs ?? Number.NaN;
    figures.bytesToJson = (warm.bytes ?? Number.NaN) / (warm.jsonBytes ?? Number.NaN);
  });
  if (kind === "ref") return figures;
  const few = await measured(kind, (server) => load({ task: "reconnect", sessions: 100 }, kind, server));
  const many = await measured(kind, (server) => load({ task: "reconnect", sessions: 1000 }, kind, server));
  figures.exchanges = many.exchanges ?? Number.NaN;
  figures.bytesFlat = (many.bytes ?? Number.NaN) / (few.bytes ?? Number.NaN);
  return figures;
}
