import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Task } from "./task.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

export type Kind = "ref" | "ours";

/** One relay in its own process and its own folder. */
export interface Server {
  readonly port: number;
  readonly pid: number;
  /** A clean end. */
  stop(): Promise<void>;
  /** A clean end where it still runs, and a new process on the same folder and port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

function commandOf(
  kind: Kind | "echo",
  folder: string,
  port: number,
  durability: "power" | "process",
): string[] {
  if (kind === "echo") return ["--import", "tsx", "bench/ref/echo.ts"];
  if (kind === "ref") {
    return ["--import", "tsx", "bench/ref/relay.ts", folder, durability === "power" ? "FULL" : "NORMAL"];
  }
  return [
    "dist/server/main.js",
    "relay",
    "--port",
    String(port),
    "--data",
    folder,
    "--durability",
    durability,
  ];
}

export async function startServer(
  kind: Kind | "echo",
  durability: "power" | "process" = "power",
): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-bench-${kind}-`));
  let child: ChildProcess;
  let port = 0;
  async function start(): Promise<void> {
    const started = spawn(process.execPath, commandOf(kind, folder, port, durability), {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    let output = "";
    port = await new Promise((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        output = (output + chunk).slice(-10_000);
        const address = /ws:\/\/[^\s"/]+:(\d+)/.exec(output);
        if (address !== null) resolve(Number(address[1]));
      };
      started.stdout?.on("data", hear);
      started.stderr?.on("data", hear);
      started.once("exit", () => reject(new Error(`The ${kind} relay ended: ${output}`)));
    });
  }
  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await ended;
    clearTimeout(timer);
  }
  await start();
  return {
    get port() {
      return port;
    },
    get pid() {
      return child.pid ?? 0;
    },
    stop: end,
    async restart() {
      await end();
      await start();
    },
    async close() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Processor time that a process has used, in ms; undefined where the system has no /proc. */
function cpuMsOf(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    // Not Linux: the row on processor time is then empty.
    return undefined;
  }
}

/** Memory that a process holds, in KB; NaN where the system has no /proc. */
export function residentKbOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    // Not Linux: the rows on memory are then empty.
    return Number.NaN;
  }
}

export interface Seen {
  readonly [figure: string]: number;
}

/** Runs the load generator; `serverCpuMs` is what the relay used between its "begin" and "end". */
export function load(task: Omit<Task, "port" | "kind">, kind: Kind, server: Server): Promise<Seen> {
  const asked: Task = { ...task, kind, port: server.port };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", "tsx", "bench/load.ts", JSON.stringify(asked)], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    let from: number | undefined;
    let to: number | undefined;
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (from === undefined && text.includes("begin\n")) from = cpuMsOf(server.pid);
      if (to === undefined && text.includes("end\n")) to = cpuMsOf(server.pid);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      const last = text.trim().split("\n").at(-1) ?? "";
      if (code !== 0) reject(new Error(`The load generator failed on ${JSON.stringify(asked)}`));
      else
        resolve({
          ...(JSON.parse(last) as Seen),
          serverCpuMs: from === undefined || to === undefined ? Number.NaN : to - from,
        });
    });
  });
}
