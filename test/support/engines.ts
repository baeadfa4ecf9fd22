import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumEngine } from "./engines/chromium-engine.ts";
import type { Engine, EngineBrowser, Tab } from "./engines/engine.ts";
import { firefoxEngine } from "./engines/firefox-engine.ts";
import { webkitEngine } from "./engines/webkit-engine.ts";

export const allEngines: readonly Engine[] = [chromiumEngine, firefoxEngine, webkitEngine];

/**
 * The engines that tests run in: all three, or those of them that HOLDFAST_ENGINES names (with commas between).
 * One that this machine lacks is an error where CI is set; elsewhere it is left out, and that is said.
 */
export function enginesHere(): readonly Engine[] {
  const asked = process.env.HOLDFAST_ENGINES?.split(",");
  const wanted = allEngines.filter(({ name }) => asked === undefined || asked.includes(name));
  const lacking = wanted.flatMap((engine) => {
    const what = engine.lacking();
    return what === undefined ? [] : [`${engine.name}: ${what}`];
  });
  if (lacking.length > 0 && process.env.CI !== undefined) throw new Error(lacking.join("; "));
  for (const one of lacking) console.warn(`The tests in one engine are left out. ${one}`);
  const here = wanted.filter((engine) => engine.lacking() === undefined);
  if (here.length === 0)
    throw new Error("There is no browser on this machine: run npm test, which says how.");
  return here;
}

/** One person's browser: a profile that outlives the process that uses it. */
export class Profile {
  readonly engine: Engine;
  readonly folder: string = mkdtempSync(join(tmpdir(), "holdfast-profile-"));
  #browser: Promise<EngineBrowser> | undefined;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** A new tab on an address; starts the browser where it does not run. */
  async openTab(url: string): Promise<Tab> {
    this.#browser ??= this.engine.open(this.folder);
    const tab = await (await this.#browser).openTab();
    await tab.goto(url);
    return tab;
  }

  /** SIGKILL of the whole browser. The next tab starts it again on the same profile. */
  async kill(): Promise<void> {
    const browser = this.#browser;
    this.#browser = undefined;
    await (await browser)?.kill();
  }

  /** Ends the browser and deletes the profile. */
  async dispose(): Promise<void> {
    const browser = this.#browser;
    this.#browser = undefined;
    await (await browser)?.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
