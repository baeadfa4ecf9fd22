import { dialects, join, type Log, sendAppend } from "./dialect.ts";
import type { RawSocket } from "./raw-socket.ts";
import type { Task } from "./task.ts";

const messagesPerOp = 100;

/** A connection whose answers are awaited one by one. */
async function openAsking(
  task: Task,
  person: string,
  session: string,
): Promise<{ socket: RawSocket; answer(kind: string): Promise<Buffer> }> {
  const waiting: { kind: string; resolve: (payload: Buffer) => void }[] = [];
  const early: { kind: string; payload: Buffer }[] = [];
  const socket = await join(task.port, dialects[task.kind], { person, session }, (kind, payload) => {
    const name = kind === "other" ? "catalog-page" : kind;
    const index = waiting.findIndex((one) => one.kind === name);
    if (index < 0) early.push({ kind: name, payload });
    else waiting.splice(index, 1)[0]?.resolve(payload);
  });
  const answer = (kind: string) => {
    const index = early.findIndex((one) => one.kind === kind);
    const found = index < 0 ? undefined : early.splice(index, 1)[0];
    return found === undefined
      ? new Promise<Buffer>((resolve) => waiting.push({ kind, resolve }))
      : Promise.resolve(found.payload);
  };
  return { socket, answer };
}

interface PageFrame {
  readonly start: number;
  readonly more: boolean;
  readonly messages: readonly { readonly message?: { readonly id: string }; readonly id?: string }[];
}

async function writeLog(task: Task, log: Log, messages: number): Promise<void> {
  const { socket, answer } = await openAsking(
    task,
    log.person,
    task.kind === "ref" ? `${log.session}-writer` : log.session,
  );
  for (let left = messages; left > 0; left -= messagesPerOp) {
    sendAppend(socket, dialects[task.kind], log, Math.min(left, messagesPerOp));
    const ack = await answer("ack");
    log.incarnation ??= /"incarnation":"([^"]*)"/.exec(ack.toString())?.[1] ?? "none";
  }
  socket.close();
}

/** Writes one log of so many messages. */
export async function fill(task: Task): Promise<object> {
  const log: Log = { person: "reader", session: "long", count: 0, lastId: null, incarnation: null };
  await writeLog(task, log, task.messages ?? 10_000);
  return { log };
}

/** Reads the whole log that `fill` wrote, and then its last 50 messages again and again. */
export async function catchUp(task: Task): Promise<object> {
  const dialect = dialects[task.kind];
  const log: Log = { person: "reader", session: "long", count: 0, lastId: null, incarnation: null };
  const { socket, answer } = await openAsking(task, log.person, log.session);
  const before = socket.receivedBytes;
  const started = performance.now();
  const ids: string[] = [];
  let jsonBytes = 0;
  let parsingMs = 0;
  for (let more = true; more; ) {
    if (task.kind === "ours" || ids.length === 0)
      socket.send(dialect.pull(log, ids.length, ids.at(-1) ?? null));
    const payload = await answer("page");
    const parsing = performance.now();
    const page = JSON.parse(payload.toString()) as PageFrame & { incarnation?: string };
    for (const one of page.messages) {
      const message = one.message ?? one;
      ids.push(message.id ?? "");
      jsonBytes += JSON.stringify(message).length;
    }
    parsingMs += performance.now() - parsing;
    log.incarnation = page.incarnation ?? null;
    more = page.more;
  }
  const allMs = performance.now() - started - parsingMs;
  const bytes = socket.receivedBytes - before;
  const tails: number[] = [];
  for (let round = 0; round < 21; round++) {
    const from = performance.now();
    socket.send(dialect.pull(log, ids.length - 50, ids.at(-51) ?? null));
    await answer("page");
    tails.push(performance.now() - from);
  }
  tails.sort((a, b) => a - b);
  return { messages: ids.length, allMs, tailMs: tails[10], bytes, jsonBytes };
}

/** An actor with many sessions, of which three changed while a device was away: what coming back costs on the wire. */
export async function reconnect(task: Task): Promise<object> {
  const dialect = dialects.ours;
  const person = "away";
  const logs = Array.from({ length: task.sessions ?? 1000 }, (_, index): Log => {
    return { person, session: `many-${index}`, count: 0, lastId: null, incarnation: null };
  });
  const writer = await openAsking(task, person, "");
  for (const log of logs) {
    sendAppend(writer.socket, dialect, log);
    log.incarnation = /"incarnation":"([^"]*)"/.exec((await writer.answer("ack")).toString())?.[1] ?? "none";
  }
  const held = logs.map((log) => ({ ...log }));
  const changed = logs.slice(10, 13);
  let cursor = 0;
  for (const log of changed) {
    sendAppend(writer.socket, dialect, log, 10);
    const ack = JSON.parse((await writer.answer("ack")).toString()) as { seq: number };
    cursor = cursor === 0 ? ack.seq - 1 : cursor;
  }
  const started = performance.now();
  const back = await openAsking(task, person, "");
  back.socket.send(`{"type":"catalog","id":"c","cursor":${cursor}}`);
  const page = JSON.parse((await back.answer("catalog-page")).toString()) as {
    more: boolean;
    entries: { session: string }[];
  };
  let exchanges = 1;
  for (const { session } of page.entries) {
    const log = held.find((one) => one.session === session);
    if (log === undefined) throw new Error(`The relay names a session that nobody made: ${session}`);
    back.socket.send(dialect.pull(log, log.count, log.lastId));
    await back.answer("page");
    exchanges += 1;
  }
  if (page.more) throw new Error("Three changes need more than one page of the catalog.");
  return {
    exchanges,
    entries: page.entries.length,
    bytes: back.socket.receivedBytes,
    ms: performance.now() - started,
  };
}
