// By puppeteer, because Playwright keeps every page visible, and a page that is visible is never frozen.
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client.ts";
import { textOf } from "../../src/model/message.ts";
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
  browser = await puppeteer.launch({
    executablePath,
    args: chromiumFlags,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
    timeout: 120_000,
  });
});
afterAll(async () => {
  await browser?.close();
  await setting?.close();
});

async function openTab(name: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(setting.site.url);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  await openDesk(page, name);
  return page;
}

const openDesk = (page: Page, name: string): Promise<void> =>
  page.evaluate((options) => window.desk.open(options), { url: setting.cable.url, actorId, name });
const phoneTexts = async (phone: Client) => (await phone.session("frozen").history()).map(textOf);
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
  const leader = await openTab("frozen");
  await expect.poll(() => leads(leader), soon).toBe(true);
  // Opened later, so that it is the visible one.
  const follower = await openTab("frozen");
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

/** Another page, and back. Tells whether the browser had kept the page asleep, or loaded it anew. */
async function leaveAndReturn(page: Page, meanwhile: () => Promise<void>): Promise<"kept" | "loaded anew"> {
  await page.evaluate(() => {
    addEventListener("pageshow", ({ persisted }) => (document.title = persisted ? "kept" : ""));
  });
  await page.goto(`${setting.site.url}elsewhere`);
  await meanwhile();
  await page.goBack();
  if ((await page.title()) === "kept") return "kept";
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  return "loaded anew";
}

test("[C9, C38] the only tab is left for another page with ops that could not go out, and come back to out of the browser's cache: it leads and sends them", async () => {
  const name = "alone";
  const phone = await setting.openPhone(actorId);
  const page = await openTab(name);
  await expect.poll(() => leads(page), soon).toBe(true);
  setting.cable.cut();
  const left = await say(page, "left");
  const how = await leaveAndReturn(page, async () => {
    await phone.session("frozen").append({ messages: [{ role: "user", content: "from the phone" }] });
    expect(await phone.flush()).toEqual({ pending: 0 });
    setting.cable.heal();
  });
  expect(how).toBe("kept");
  await expect.poll(() => leads(page), soon).toBe(true);
  const last = await say(page, "back");
  await flush(page);
  const ids = (await phone.session("frozen").history()).map(({ id }) => id);
  expect(ids.slice(-2)).toEqual([...left, ...last]);
  await expect.poll(() => textsIn(page), soon).toEqual(await phoneTexts(phone));
  expect((await textsIn(page)).slice(-3)).toEqual(["from the phone", "left", "back"]);
  await page.close();
});

test("[C38] the leading tab of two is left for another page and come back to: the other led meanwhile, and both have it all", async () => {
  const [first, second] = [await openTab("left"), await openTab("left")];
  const tabs = [first, second];
  await expect.poll(async () => (await Promise.all(tabs.map(leads))).filter(Boolean).length, soon).toBe(1);
  const [leader, follower] = (await leads(first)) ? [first, second] : [second, first];
  const before = await say(leader, "before");
  const added: string[] = [];
  const how = await leaveAndReturn(leader, async () => {
    await expect.poll(() => leads(follower), soon).toBe(true);
    added.push(...(await say(follower, "meanwhile")));
  });
  console.log(`with another tab writing, the page was ${how}`);
  if (how === "loaded anew") await openDesk(leader, "left");
  const last = await say(leader, "back");
  await flush(follower);
  const phone = await setting.openPhone(actorId);
  const ids = (await phone.session("frozen").history()).map(({ id }) => id);
  expect(ids.slice(-3)).toEqual([...before, ...added, ...last]);
  for (const tab of tabs) await expect.poll(() => textsIn(tab), soon).toEqual(await phoneTexts(phone));
  expect([await leads(leader), await leads(follower)]).toEqual([false, true]);
});
