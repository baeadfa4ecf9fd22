import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const command = ["--import", "tsx", "server/main.ts", "relay"];

/** The relay as an operator runs it: its own process, its own folder, killed without a word when a test says so. */
export interface RelayProcess {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  /** What it has printed so far, for messages of failed tests. */
  readonly output: string;
  /** SIGKILL: nothing of what is in its memory survives. */
  kill(): Promise<void>;
  /** SIGTERM: it drains and goes. Answers the exit code. */
  stop(): Promise<number | null>;
  /** Starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Ends it and deletes its folder. */
  dispose(): Promise<void>;
}

export async function startRelayProcess(
  options: { port?: number; folder?: string; args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<RelayProcess> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "holdfast-relay-"));
  let port = options.port ?? 0;
  let child: ChildProcess;
  let output = "";

  async function start(): Promise<void> {
    output = "";
    const started = spawn(
      process.execPath,
      [...command, "--port", String(port), "--data", folder, ...(options.args ?? [])],
      { cwd: root, env: { ...process.env, ...options.env }, stdio: ["ignore", "pipe", "pipe"] },
    );
    child = started;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => fail("said no address within 30 s"), 30_000);
      const fail = (why: string) => {
        clearTimeout(timer);
        started.kill("SIGKILL");
        reject(new Error(`The relay ${why}. It printed:\n${output}`));
      };
      const hear = (chunk: Buffer) => {
        output += chunk.toString();
        const address = /ws:\/\/[^\s"/]+:(\d+)/.exec(output);
        if (address === null) return;
        clearTimeout(timer);
        port = Number(address[1]);
        resolve();
      };
      started.stdout?.on("data", hear);
      started.stderr?.on("data", hear);
      started.once("error", (error) => fail(error.message));
      started.once("exit", (code, signal) => fail(`ended with ${signal ?? code}`));
    });
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    child.kill(signal);
    return ended;
  }

  await start();
  return {
    get url() {
      return `ws://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    folder,
    get pid() {
      return child.pid ?? 0;
    },
    get output() {
      return output;
    },
    async kill() {
      await end("SIGKILL");
    },
    stop: () => end("SIGTERM"),
    restart: start,
    async dispose() {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
