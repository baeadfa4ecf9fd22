// The demo, by one command: builds the package and the page, starts a relay on SQLite, the answering agent, and a
// server for the page, and prints the address to open.
//   PORT          the page's port (5173)      RELAY_PORT   the relay's (8787)      DATA   the relay's folder (.data)
// A port that is taken gives way to a free one. The page is built with VITE_HOLDFAST_URL, the relay's address; the
// agent gets the same as HOLDFAST_URL, and both speak for the actor in HOLDFAST_ACTOR / VITE_HOLDFAST_ACTOR ("demo").
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { preview } from "vite";
import { requireSqlite } from "./prerequisites.ts";
import { run } from "./run.ts";

const host = "127.0.0.1";
const children: ChildProcess[] = [];

async function freePort(wanted: number): Promise<number> {
  const attempt = (port: number) =>
    new Promise<number | undefined>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(undefined));
      probe.listen(port, host, () => {
        const address = probe.address();
        probe.close(() =>
          resolve(typeof address === "object" && address !== null ? address.port : undefined),
        );
      });
    });
  const port = (await attempt(wanted)) ?? (await attempt(0));
  if (port === undefined) throw new Error(`No free port on ${host}.`);
  if (port !== wanted) console.log(`Port ${wanted} is taken; using ${port}.`);
  return port;
}

function start(name: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  children.push(child);
  child.once("exit", (code, signal) => {
    if (stopping) return;
    console.error(`The ${name} ended (${signal ?? `code ${code}`}).`);
    void stop(1);
  });
  return child;
}

function waitForLine(child: ChildProcess, pattern: RegExp, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`No line like ${pattern} within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    child.stdout?.on("data", (chunk: Buffer) => {
      process.stdout.write(chunk);
      if (!pattern.test(chunk.toString())) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

let stopping = false;
async function stop(code: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  // The relay drains and tells its clients before it goes; the agent closes its sockets.
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
  const ended = running.map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of running) child.kill("SIGTERM");
  await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, 5_000))]);
  for (const child of running) child.kill("SIGKILL");
  process.exit(code);
}

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
process.once("SIGINT", () => void stop(0));
process.once("SIGTERM", () => void stop(0));
requireSqlite();

const relayPort = await freePort(Number(process.env.RELAY_PORT ?? 8787));
const pagePort = await freePort(Number(process.env.PORT ?? 5173));
const url = `ws://${host}:${relayPort}`;
const actor = process.env.HOLDFAST_ACTOR ?? "demo";
process.env.VITE_HOLDFAST_URL = url;
process.env.VITE_HOLDFAST_ACTOR = actor;

for (const command of [
  ["tsdown", "--log-level", "warn"],
  ["vite", "build", "--logLevel", "warn"],
]) {
  const code = await run("npx", command);
  if (code !== 0) throw new Error(`npx ${command.join(" ")} failed with code ${code}.`);
}

const data = process.env.DATA ?? ".data";
const relay = start(
  "relay",
  ["dist/server/main.js", "relay", "--port", String(relayPort), "--data", data],
  {},
);
await waitForLine(relay, /ws:\/\//, 20_000);
const agent = start("agent", ["--import", "tsx", "demo/agent/main.ts"], {
  HOLDFAST_URL: url,
  HOLDFAST_ACTOR: actor,
});
agent.stdout?.pipe(process.stdout);
await preview({
  configFile: "vite.config.ts",
  preview: { host, port: pagePort, strictPort: true },
  logLevel: "warn",
});
console.log(
  `\nHoldfast's demo is at http://${host}:${pagePort}/ (relay ${url}, data in ${data}). Ctrl+C ends it.`,
);
