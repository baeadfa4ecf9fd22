import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The demo's answering agent as a process of its own, ten words a second. Tells its address. */
export function startDemoAgent(relayUrl: string): Promise<{ agent: ChildProcess; url: string }> {
  const agent = spawn(process.execPath, ["--import", "tsx", "demo/agent/main.ts"], {
    cwd: root,
    env: { ...process.env, HOLDFAST_URL: relayUrl, OPENAI_BASE_URL: "", AGENT_WORD_MS: "100" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    agent.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (url !== undefined) resolve({ agent, url });
    });
    agent.once("exit", (code) => reject(new Error(`The agent ended with ${code}`)));
  });
}
