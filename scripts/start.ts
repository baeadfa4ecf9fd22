// The demo, by one command: builds the package and the page, then demo/start.ts runs the relay, the agent and the
// page's server, and prints the address to open.
import { fileURLToPath } from "node:url";
import { requireSqlite } from "./prerequisites.ts";
import { run } from "./run.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
requireSqlite();
const builds = [
  ["tsdown", "--log-level", "error"],
  ["vite", "build", "--logLevel", "warn"],
];
for (const command of builds) {
  const code = await run("npx", command);
  if (code !== 0) throw new Error(`npx ${command.join(" ")} failed with code ${code}.`);
}
await import("../demo/start.ts");
