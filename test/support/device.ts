import type { Page } from "playwright-core";
import { type Browser, openChromium } from "./chromium.ts";

/** A browser profile of one user, with the test page's small application open in its tabs. */
export interface Device {
  readonly browser: Browser;
  /** The tab opened first. */
  readonly page: Page;
  /** Another tab, with its client open. */
  tab(): Promise<Page>;
  /** Closes the browser and deletes the profile. */
  dispose(): Promise<void>;
}

export interface DeviceOptions {
  /** The test page. */
  readonly site: string;
  /** The relay, or the cable to it. */
  readonly url: string;
  readonly actorId: string;
  /** An application name of its own separates tests that share one profile. */
  readonly name?: string;
  readonly profile?: string;
}

/** Loads the test page and opens its client. Also for a reload: what the page held is gone, the profile stays. */
export async function openDesk(page: Page, { site, url, actorId, name }: DeviceOptions): Promise<void> {
  await page.goto(site);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const options = { url, actorId, ...(name === undefined ? {} : { name }) };
  await page.evaluate((given) => window.desk.open(given), options);
}

export async function openDevice(options: DeviceOptions): Promise<Device> {
  const browser = await openChromium(options.profile === undefined ? {} : { profile: options.profile });
  const tab = async (): Promise<Page> => {
    const page = await browser.context.newPage();
    await openDesk(page, options);
    return page;
  };
  return { browser, page: await tab(), tab, dispose: () => browser.dispose() };
}

/** The texts of a session's view in a page, in order. */
export function textsOn(page: Page, session: string): Promise<string[]> {
  return page.evaluate((id) => window.desk.texts(id), session);
}
