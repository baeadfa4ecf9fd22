import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { type Browser, openChromium } from "./chromium.ts";
import { openPageServer } from "./page-server.ts";
// Declares what the page puts on its window.
import type { StorePage } from "./store-page/main.ts";

export interface StoreBrowser {
  /** Runs one case of a suite in a page; gives its failure as text, or "". */
  run(suite: string, name: string): Promise<string>;
  openPage(): Promise<Page>;
  /** Ends the browser as a power cut would be seen by the page, and opens its profile again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A Chromium with its profile on disk, and the page of stores. */
export async function openStoreBrowser(): Promise<StoreBrowser> {
  const server = await openPageServer({ root: fileURLToPath(new URL("./store-page", import.meta.url)) });
  let browser: Browser = await openChromium();
  let shared: Page | undefined;
  const openPage = async (): Promise<Page> => {
    const page = await browser.context.newPage();
    await page.goto(server.url);
    await page.waitForSelector("html[data-ready]", { state: "attached" });
    return page;
  };
  return {
    openPage,
    run: async (suite, name) => {
      shared ??= await openPage();
      return shared.evaluate(
        ([first, second]) => (window.stores as StorePage).run(first as string, second as string),
        [suite, name],
      );
    },
    restart: async () => {
      const { profile } = browser;
      await browser.close();
      shared = undefined;
      browser = await openChromium({ profile });
    },
    close: async () => {
      await browser.dispose();
      await server.close();
    },
  };
}
