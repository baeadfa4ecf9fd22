// By puppeteer, because Playwright keeps every page visible, and a page that is visible is never frozen.
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromiumFlags, findChromium } from "../support/chromium.ts";
import { soon } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";

const actorId = "anna";

let setting: EngineSetting;
let browser: Browser;

beforeAll(async () => {
  setting = await openEngineSetting();
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("No Chromium on this machine: run npm test");
  browser = await puppeteer.launch({ executablePath, args: chromiumFlags, timeout: 120_000 });
});
afterAll(async () => {
  await browser?.close();
  await setting?.close();
});

async function openTab(): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(setting.site.url);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  await page.evaluate((options) => window.desk.open(options), { url: setting.cable.url, actorId });
  return page;
}

const leads = (page: Page) => page.evaluate(() => window.desk.status().leader);
const say = (page: Page, ...texts: string[]) => page.evaluate((all) => window.desk.say("frozen", all), texts);
const textsIn = (page: Page) => page.evaluate(() => window.desk.texts("frozen"));

async function flush(page: Page): Promise<void> {
  await page.evaluate(() => window.desk.reconnect());
  expect(await page.evaluate(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
}

test("[C38] the leading tab is frozen by the browser: the other takes over, and the thawed one only follows", async () => {
  const phone = await setting.openPhone(actorId);
  const onPhone = async () => (await phone.session("frozen").history()).map(({ id }) => id);
  const leader = await openTab();
  await expect.poll(() => leads(leader), soon).toBe(true);
  // Opened later, so that it is the visible one.
  const follower = await openTab();
  await leader.evaluate(() => {
    document.addEventListener("freeze", () => (document.title = "frozen"));
  });

  setting.cable.cut();
  const left = await say(leader, "left 1", "left 2", "left 3");
  const control = await leader.createCDPSession();
  await control.send("Page.setWebLifecycleState", { state: "frozen" });
  await expect.poll(() => leads(follower), soon).toBe(true);
  expect(await leader.title()).toBe("frozen");
  setting.cable.heal();
  const added = await say(follower, "taken over");
  await flush(follower);
  await expect.poll(onPhone, soon).toEqual([...left, ...added]);

  await control.send("Page.setWebLifecycleState", { state: "active" });
  const last = await say(leader, "thawed");
  await flush(leader);
  await expect.poll(onPhone, soon).toEqual([...left, ...added, ...last]);
  expect([await leads(leader), await leads(follower)]).toEqual([false, true]);
  expect(await textsIn(leader)).toEqual(["left 1", "left 2", "left 3", "taken over", "thawed"]);
});
