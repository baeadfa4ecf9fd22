import type { BrowserContext } from "playwright-core";
import { findChromium, openChromium } from "../chromium.ts";
import { type Engine, tabOf } from "./engine.ts";

export const chromiumEngine: Engine = {
  name: "chromium",
  lacking: () => (findChromium() === undefined ? "no Chromium (apt-get install chromium)" : undefined),
  open: async (profile) => {
    const { context } = await openChromium({ profile });
    const pid = await processOf(context);
    return {
      openTab: async () => {
        const page = await context.newPage();
        return tabOf({
          evaluate: (expression) => page.evaluate<string>(expression),
          goto: (url) => page.goto(url),
          close: () => page.close(),
          kill: async () => {
            const crashed = page.waitForEvent("crash");
            const session = await context.newCDPSession(page);
            // Nobody is left to answer it.
            session.send("Page.crash").catch(() => {});
            await crashed;
            await page.close();
          },
        });
      },
      kill: async () => {
        const closed = new Promise((resolve) => context.once("close", resolve));
        process.kill(pid, "SIGKILL");
        await closed;
      },
      close: () => context.close(),
    };
  },
};

/** The process of a browser, above those of its pages. */
async function processOf(context: BrowserContext): Promise<number> {
  const session = await context.browser()?.newBrowserCDPSession();
  const info = await session?.send("SystemInfo.getProcessInfo");
  const pid = info?.processInfo.find(({ type }) => type === "browser")?.id;
  if (pid === undefined) throw new Error("the browser does not tell its process");
  return pid;
}
