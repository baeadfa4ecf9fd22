import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";

export const chromiumFlags: string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const names = [/^chromium(-browser)?$/i, /^google-chrome(-stable)?$/, /^Google Chrome$/, /^chrome$/];
const otherHomes = [
  "/usr/bin",
  "/snap/bin",
  "/Applications/Chromium.app/Contents/MacOS",
  "/Applications/Google Chrome.app/Contents/MacOS",
];

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The Chromium of this machine: the one named in HOLDFAST_CHROMIUM, the system's, or Playwright's own. */
export function findChromium(): string | undefined {
  const named = process.env.HOLDFAST_CHROMIUM;
  if (named !== undefined && named !== "") return named;
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...otherHomes].filter(
    (folder) => folder !== "",
  );
  for (const name of names) {
    for (const folder of folders) {
      const match = entries(folder).find((entry) => name.test(entry));
      if (match !== undefined) return join(folder, match);
    }
  }
  const own = chromium.executablePath();
  if (own !== "" && existsSync(own)) return own;
  const cache = join(homedir(), ".cache/ms-playwright");
  for (const build of entries(cache).filter((entry) => entry.startsWith("chromium-"))) {
    for (const platform of entries(join(cache, build))) {
      const path = join(cache, build, platform, "chrome");
      if (existsSync(path)) return path;
    }
  }
  return undefined;
}

export interface Browser {
  readonly context: BrowserContext;
  /** Where its profile lives; give it to `openChromium` again to find IndexedDB as it was left. */
  readonly profile: string;
  /** Closes the browser, keeps the profile. */
  close(): Promise<void>;
  /** Closes the browser and deletes the profile. */
  dispose(): Promise<void>;
}

/**
 * A Chromium with a profile on disk, because the contexts of a shared browser keep IndexedDB in memory.
 * Two devices are two of these; two tabs are two pages of one.
 */
export async function openChromium(options: { profile?: string; headless?: boolean } = {}): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error("No Chromium on this machine: run npm test, which installs one.");
  const profile = options.profile ?? mkdtempSync(join(tmpdir(), "holdfast-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: chromiumFlags,
    headless: options.headless ?? true,
  });
  const close = () => context.close();
  return {
    context,
    profile,
    close,
    dispose: async () => {
      await close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
