import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { WebSocket } from "ws";
import { type Dialect, dialects, join, type Log, sendAppend } from "./dialect.ts";
import type { RawSocket } from "./raw-socket.ts";
import type { Figures, Row } from "./rows.ts";
import { residentKbOf, startServer } from "./servers.ts";

export const memoryRows: readonly Row[] = [
  {
    id: "R7",
    what: "memory per idle connection, 10,000 open, to a ws echo",
    of: "idleKb",
    better: "less",
    target: 1.3,
    unit: "KB",
  },
  {
    id: "R7",
    what: "memory per connection with a session each, 1,000 open, to ref",
    of: "sessionKb",
    better: "less",
    target: 1.2,
    unit: "KB",
  },
];

export const memoryOwnRows: readonly Row[] = [
  {
    id: "R8",
    what: "live heap per open idle session of 50 messages",
    of: "heapKb50",
    better: "less",
    target: 6,
    unit: "KB",
  },
  {
    id: "R8",
    what: "live heap per open idle session of 5,000 messages",
    of: "heapKb5000",
    better: "less",
    target: 6,
    unit: "KB",
  },
];

const CONNECTIONS = 10_000;
const SESSIONS = 1_000;
const echo: Dialect = { ...dialects.ref, hello: () => '{"type":"welcome"}' };
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function openMany(count: number, open: (n: number) => Promise<RawSocket>): Promise<RawSocket[]> {
  const sockets: RawSocket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(200, count - sockets.length) }, (_, n) =>
      open(sockets.length + n),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

async function perConnection(
  kind: "ref" | "ours" | "echo",
  count: number,
  open: (port: number, n: number) => Promise<RawSocket>,
): Promise<number> {
  const server = await startServer(kind);
  try {
    // The first ones bring what is only there once.
    const first = await openMany(50, (n) => open(server.port, n));
    await wait(500);
    const before = residentKbOf(server.pid);
    const sockets = await openMany(count, (n) => open(server.port, 50 + n));
    await wait(1_500);
    const after = residentKbOf(server.pid);
    for (const socket of [...first, ...sockets]) socket.close();
    return (after - before) / count;
  } finally {
    await server.close();
  }
}

/** A connection whose person has one session of one message. */
async function withSession(kind: "ref" | "ours", port: number, n: number): Promise<RawSocket> {
  const log: Log = { person: `p${n}`, session: `s${n}`, count: 0, lastId: null, incarnation: null };
  let acknowledged = (): void => {};
  const done = new Promise<void>((resolve) => {
    acknowledged = resolve;
  });
  const socket = await join(port, dialects[kind], log, (what) => what === "ack" && acknowledged());
  sendAppend(socket, dialects[kind], log);
  await done;
  return socket;
}

/** Memory of one side: `limit` is a ws echo for bare connections, and ref for those with a session. */
export async function memoryFigures(side: "ref" | "ours"): Promise<Figures> {
  const idle = side === "ref" ? echo : dialects.ours;
  const bare = side === "ref" ? "echo" : "ours";
  const figures: Figures = {
    idleKb: await perConnection(bare, CONNECTIONS, (port, n) =>
      join(port, idle, { person: `p${n}`, session: `s${n}` }, () => {}),
    ),
    sessionKb: await perConnection(side, SESSIONS, (port, n) => withSession(side, port, n)),
  };
  if (side === "ref") return figures;
  figures.heapKb50 = await heapPerSession(200, 50);
  figures.heapKb5000 = await heapPerSession(40, 5_000);
  return figures;
}

/** Live heap that opening a session costs the relay, after a collection, in KB. */
async function heapPerSession(sessions: number, messages: number): Promise<number> {
  const folder = mkdtempSync(joinPath(tmpdir(), "holdfast-bench-heap-"));
  const command = ["--inspect=127.0.0.1:0", "dist/server/main.js", "relay", "--port", "0", "--data", folder];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const [inspector, port] = await addressesOf(child);
    const heap = await heapOf(inspector);
    const logs = Array.from({ length: sessions }, (_, n): Log => {
      return { person: "keeper", session: `s${n}`, count: 0, lastId: null, incarnation: null };
    });
    let acknowledged = (_payload: Buffer): void => {};
    let opened = 0;
    const socket = await join(port, dialects.ours, { person: "keeper", session: "" }, (kind, payload) => {
      if (kind === "ack") acknowledged(payload);
    });
    for (const log of logs) {
      for (let left = messages; left > 0; left -= 50) {
        const ack = new Promise<Buffer>((resolve) => {
          acknowledged = resolve;
        });
        sendAppend(socket, dialects.ours, log, Math.min(50, left));
        log.incarnation ??= /"incarnation":"([^"]*)"/.exec((await ack).toString())?.[1] ?? "none";
        await ack;
      }
    }
    socket.close();
    const holder = new WebSocket(`ws://127.0.0.1:${port}`);
    const all = new Promise<void>((resolve, reject) => {
      holder.on("message", (data, binary) => {
        const text = binary ? "" : String(data);
        if (text.includes('"channel-opened"')) opened += 1;
        if (text.includes('"channel-closed"')) reject(new Error(`The relay said: ${text}`));
        if (opened === sessions) resolve();
      });
    });
    await new Promise((resolve) => holder.once("open", resolve));
    holder.send(dialects.ours.hello("keeper", ""));
    await wait(500);
    const before = await heap();
    for (const [index, { session, incarnation }] of logs.entries()) {
      holder.send(JSON.stringify({ type: "open-channel", channel: index + 1, session, incarnation }));
    }
    await all;
    await wait(500);
    const after = await heap();
    holder.close();
    return (after - before) / 1024 / sessions;
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

function addressesOf(child: ChildProcess): Promise<[inspector: string, port: number]> {
  let output = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      output += chunk;
      const inspector = /Debugger listening on (ws:\S+)/.exec(output)?.[1];
      const port = /listening on ws:\/\/[^\s"/]+:(\d+)\s*$/m.exec(output.replace(/Debugger.*\n/g, ""))?.[1];
      if (inspector !== undefined && port !== undefined) resolve([inspector, Number(port)]);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(`The relay ended: ${output}`)));
  });
}

/** Asks a process for its live heap in bytes, after a collection. */
async function heapOf(address: string): Promise<() => Promise<number>> {
  const socket = new WebSocket(address);
  await new Promise((resolve) => socket.once("open", resolve));
  let last = 0;
  const ask = (method: string): Promise<{ usedSize?: number }> => {
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      const hear = (data: unknown): void => {
        const answer = JSON.parse(String(data)) as { id?: number; result?: { usedSize?: number } };
        if (answer.id !== id) return;
        socket.off("message", hear);
        resolve(answer.result ?? {});
      };
      socket.on("message", hear);
      socket.send(JSON.stringify({ id, method }));
    });
  };
  return async () => {
    for (let round = 0; round < 3; round++) await ask("HeapProfiler.collectGarbage");
    return (await ask("Runtime.getHeapUsage")).usedSize ?? Number.NaN;
  };
}
