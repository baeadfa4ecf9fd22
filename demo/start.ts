// The demo: a relay on SQLite, the answering agent as a process of its own, and a server for the built page.
//   PORT   the page's port (5173)      RELAY_PORT   the relay's (8787)      DATA   the relay's folder (.data)
// A port that is taken gives way to a free one.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRelay, sqliteStorage } from "holdfast/server";
import { serveDemo } from "./serve.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const data = process.env.DATA ?? join(root, ".data");

/** The wanted port, or any free one where somebody else has it. */
async function orAnyPort<T>(wanted: number, open: (port: number) => Promise<T>): Promise<T> {
  try {
    return await open(wanted);
  } catch (error) {
    if (!isTaken(error)) throw error;
    console.log(`Port ${wanted} is taken; using a free one.`);
    return open(0);
  }
}

/** The relay says it in its own words and keeps the system's as the cause. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "EADDRINUSE") || isTaken(error.cause);
}

mkdirSync(data, { recursive: true });
const relay = await orAnyPort(Number(process.env.RELAY_PORT ?? 8787), (port) =>
  createRelay({ port, storage: sqliteStorage({ path: join(data, "relay.sqlite") }) }),
);

const agent = spawn(process.execPath, ["--import", "tsx", join(root, "demo/agent/main.ts")], {
  cwd: root,
  env: { ...process.env, HOLDFAST_URL: relay.url },
  stdio: ["ignore", "pipe", "inherit"],
});
let stopping = false;
const agentUrl = await new Promise<string>((resolve, reject) => {
  let said = "";
  agent.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    if (address !== undefined) resolve(address);
  });
  agent.once("error", reject);
  agent.once("exit", (code, signal) => {
    reject(new Error(`The agent ended at once (${signal ?? `code ${code}`}).`));
    if (!stopping) console.error("The agent has ended; the page goes on without answers.");
  });
});

const page = await orAnyPort(Number(process.env.PORT ?? 5173), (port) =>
  serveDemo({ folder: join(root, "demo/dist"), relayUrl: relay.url, agentUrl, port }),
);
console.log(`\nHoldfast's demo is at ${page.url} (relay ${relay.url}, data in ${data}). Ctrl+C ends it.`);

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  agent.kill("SIGTERM");
  await page.close();
  // The relay drains and tells its clients before it goes.
  await relay.close();
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
