import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { findChromium } from "../test/support/chromium.ts";
import { allEngines } from "../test/support/engines.ts";
import { lackingForSpin } from "../test/support/spin.ts";
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

/** Whether the model checker is here, or could be installed: by apt as root on Debian and its kin. Says so where not. */
export async function haveSpin(): Promise<boolean> {
  if (lackingForSpin() !== undefined && process.getuid?.() === 0 && existsSync("/etc/debian_version")) {
    await aptInstall("spin", "gcc", "libc6-dev");
  }
  const lacking = lackingForSpin();
  if (lacking === undefined) return true;
  if (process.env.CI !== undefined) throw new Error(lacking);
  console.log(`The search of the protocol's model (npm run model) is left out: ${lacking}.`);
  return false;
}

/** Finds Chromium, or installs it: by apt as root on Debian and its kin, else by Playwright's own installer. */
export async function requireChromium(): Promise<string> {
  const found = findChromium();
  if (found !== undefined) return found;
  console.log("No Chromium found; installing one.");
  const debian =
    existsSync("/etc/debian_version") && !/ubuntu/i.test(readFileSync("/etc/os-release", "utf8"));
  const attempts: (() => Promise<unknown>)[] = [];
  if (debian && process.getuid?.() === 0) {
    attempts.push(() => aptInstall("chromium"));
  }
  attempts.push(() => run("npx", ["playwright-core", "install", "chromium"]));
  for (const attempt of attempts) {
    await attempt();
    const installed = findChromium();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    "No Chromium, and none could be installed. Install it (Debian: apt-get install chromium; elsewhere: " +
      "npx playwright-core install chromium) or name one in HOLDFAST_CHROMIUM.",
  );
}

/** What Debian calls the browsers beside Chromium, and what drives them. */
const debianPackages = {
  chromium: ["chromium"],
  firefox: ["firefox-esr"],
  webkit: ["webkit2gtk-driver", "xvfb", "python3-gi", "gir1.2-webkit2-4.1"],
};

/** Finds the other engines, or installs them: by apt as root on Debian. Says which are left out where that cannot be. */
export async function prepareEngines(): Promise<void> {
  const lacking = () => allEngines.filter((engine) => engine.lacking() !== undefined);
  const packages = lacking().flatMap(({ name }) => debianPackages[name]);
  if (packages.length > 0 && process.getuid?.() === 0 && existsSync("/etc/debian_version"))
    await aptInstall(...packages);
  for (const engine of lacking()) {
    const what = `${engine.name}: ${engine.lacking()}`;
    if (process.env.CI !== undefined) throw new Error(what);
    console.log(`The tests in one engine are left out. ${what}`);
  }
}

async function aptInstall(...packages: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  if ((await run("apt-get", ["update", "-q"], { env })) !== 0) return;
  await run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], { env });
}
