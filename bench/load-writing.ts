import { type Dialect, dialects, join, type Log, momentOf, sendAppend } from "./dialect.ts";
import type { RawSocket } from "./raw-socket.ts";
import type { Task } from "./task.ts";

const warmUpMs = 500;

interface Writer {
  readonly socket: RawSocket;
  readonly log: Log;
  acknowledged: () => void;
}

/** One person each: a device that writes, and a second one that is told. */
async function openWriters(task: Task, told: (payload: Buffer) => void): Promise<Writer[]> {
  const dialect = dialects[task.kind];
  const opening = Array.from({ length: task.writers ?? 1 }, async (_, index): Promise<Writer> => {
    const who = { person: `w${index}`, session: `s${index}` };
    await join(task.port, dialect, who, (kind, payload) => {
      if (kind === "push") told(payload);
    });
    const writer: { acknowledged: () => void } = { acknowledged: () => {} };
    const log: Log = { ...who, count: 0, lastId: null, incarnation: null };
    // The limit relay tells the last one who asked; a writer asks in the name of another log.
    const asking = task.kind === "ref" ? { ...who, session: `${who.session}-writer` } : who;
    const socket = await join(task.port, dialect, asking, (kind, payload) => {
      if (kind !== "ack") return;
      if (log.incarnation === null)
        log.incarnation = /"incarnation":"([^"]*)"/.exec(payload.toString())?.[1] ?? "none";
      writer.acknowledged();
    });
    return Object.assign(writer, { socket, log });
  });
  const writers = await Promise.all(opening);
  await Promise.all(writers.map((writer) => once(writer, dialect)));
  return writers;
}

function once(writer: Writer, dialect: Dialect): Promise<void> {
  return new Promise((resolve) => {
    writer.acknowledged = resolve;
    sendAppend(writer.socket, dialect, writer.log);
  });
}

const cpuMs = (from?: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
};
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Each writer keeps so many appends in flight; what is counted is acknowledgements in the time after a warm-up. */
export async function closedLoop(task: Task): Promise<object> {
  const dialect = dialects[task.kind];
  let acknowledged = 0;
  let pushed = 0;
  const writers = await openWriters(task, () => {
    pushed += 1;
  });
  for (const writer of writers) {
    writer.acknowledged = () => {
      acknowledged += 1;
      sendAppend(writer.socket, dialect, writer.log);
    };
    for (let n = 0; n < (task.inFlight ?? 1); n++) sendAppend(writer.socket, dialect, writer.log);
  }
  await wait(warmUpMs);
  console.log("begin");
  const from = { acknowledged, pushed, at: performance.now(), cpu: process.cpuUsage() };
  await wait((task.seconds ?? 2) * 1000);
  const ms = performance.now() - from.at;
  console.log("end");
  const appends = acknowledged - from.acknowledged;
  return {
    appends,
    pushed: pushed - from.pushed,
    ms,
    perSecond: (appends * 1000) / ms,
    loadCpu: cpuMs(from.cpu) / ms,
  };
}

/** Appends at a fixed rate over all writers; what is measured is the time until the person's other device is told. */
export async function paced(task: Task): Promise<object> {
  const dialect = dialects[task.kind];
  const delays: number[] = [];
  const rate = task.rate ?? 1000;
  const writers = await openWriters(task, (payload) => delays.push(performance.now() - momentOf(payload)));
  const durationMs = warmUpMs + (task.seconds ?? 2) * 1000;
  const start = performance.now();
  const cpu = process.cpuUsage();
  let sent = 0;
  let skip = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = performance.now() - start;
      if (elapsed < warmUpMs) skip = delays.length;
      for (const due = Math.floor((elapsed * rate) / 1000); sent < due; sent++) {
        const writer = writers[sent % writers.length];
        if (writer !== undefined) sendAppend(writer.socket, dialect, writer.log);
      }
      if (elapsed < durationMs) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  const loadCpu = cpuMs(cpu) / (performance.now() - start);
  // What is late is waited for and counts as late; only what never comes is lost.
  for (let rest = 0; rest < 100 && delays.length < sent + writers.length; rest++) await wait(100);
  const sorted = delays.slice(skip).sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return {
    delivered: sorted.length,
    lost: sent + writers.length - delays.length,
    p50: at(0.5),
    p99: at(0.99),
    loadCpu,
  };
}
