import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { findChromium } from "../test/support/chromium.ts";
import { run } from "./run.ts";

/** Fails with one plain sentence where this Node has no SQLite at all, instead of with a stack trace later. */
export function requireSqlite(): void {
  const require = createRequire(import.meta.url);
  const reasons: string[] = [];
  for (const attempt of [
    () => require("node:sqlite"),
    () => new (require("better-sqlite3"))(":memory:").close(),
  ]) {
    try {
      attempt();
      return;
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  }
  throw new Error(
    `No SQLite for the relay (${reasons.join("; ")}). On Node 20 it is compiled at install: ` +
      "install python3, make and g++, then run: npm rebuild better-sqlite3 (or use Node 22.13 or later).",
  );
}

/** Finds Chromium, or installs it: by apt as root on Debian and its kin, else by Playwright's own installer. */
export async function requireChromium(): Promise<string> {
  const found = findChromium();
  if (found !== undefined) return found;
  console.log("No Chromium found; installing one.");
  const debian =
    existsSync("/etc/debian_version") && !/ubuntu/i.test(readFileSync("/etc/os-release", "utf8"));
  const attempts: [string, string[]][][] = [];
  if (debian && process.getuid?.() === 0) {
    attempts.push([
      ["apt-get", ["update", "-q"]],
      ["apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"]],
    ]);
  }
  attempts.push([["npx", ["playwright-core", "install", "chromium"]]]);
  for (const commands of attempts) {
    for (const [command, args] of commands) {
      const code = await run(command, args, { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
      if (code !== 0) break;
    }
    const installed = findChromium();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    "No Chromium, and none could be installed. Install it (Debian: apt-get install chromium; elsewhere: " +
      "npx playwright-core install chromium) or name one in HOLDFAST_CHROMIUM.",
  );
}
