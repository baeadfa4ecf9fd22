import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import puppeteer, { type Browser, type LaunchOptions } from "puppeteer-core";
import { type Engine, tabOf } from "./engine.ts";

const names = ["firefox-esr", "firefox"];
const otherHomes = ["/usr/bin", "/snap/bin", "/Applications/Firefox.app/Contents/MacOS"];

/** The Firefox of this machine: the one named in HOLDFAST_FIREFOX, or the system's. */
function findFirefox(): string | undefined {
  const named = process.env.HOLDFAST_FIREFOX;
  if (named !== undefined && named !== "") return named;
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...otherHomes].filter(
    (folder) => folder !== "",
  );
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** A launcher whose browser was killed tidies its profile up a little later, under the hands of the next one. */
async function launched(options: LaunchOptions): Promise<Browser> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await puppeteer.launch(options);
    } catch (error) {
      const untidy = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (!untidy || tries === 10) throw error;
      await setTimeout(200);
    }
  }
}

export const firefoxEngine: Engine = {
  name: "firefox",
  lacking: () =>
    findFirefox() === undefined ? "no Firefox (apt-get install firefox-esr, or HOLDFAST_FIREFOX)" : undefined,
  open: async (profile) => {
    const executablePath = findFirefox();
    if (executablePath === undefined) throw new Error("No Firefox on this machine");
    const browser = await launched({
      browser: "firefox",
      executablePath,
      userDataDir: profile,
      timeout: 120_000,
    });
    return {
      openTab: async () => {
        const page = await browser.newPage();
        page.setDefaultNavigationTimeout(60_000);
        return tabOf({
          evaluate: async (expression) => String(await page.evaluate(expression)),
          goto: (url) => page.goto(url),
          close: () => page.close(),
        });
      },
      kill: async () => {
        const child = browser.process();
        if (child === null) throw new Error("Firefox does not tell its process");
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await gone;
      },
      close: () => browser.close(),
    };
  },
};
