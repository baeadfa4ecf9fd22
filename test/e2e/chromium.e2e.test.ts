// What only Chromium can be made to do: crash a page, tell its long tasks. A hang is alike everywhere, and tried here.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client.ts";
import { soon } from "../support/desk-tab.ts";
import { type Device, openDesk, openDevice, textsOn } from "../support/device.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";

const actorId = "anna";
const mebibytes5 = 5 * 1_024 * 1_024;

let setting: EngineSetting;
let device: Device;
let second: Page;
let phone: Client;

const place = () => ({ site: setting.site.url, url: setting.cable.url, actorId });

declare global {
  interface Window {
    openTransactions: Set<IDBTransaction>;
  }
}

/** Before anything of the page runs: which of its transactions are open. */
function watchTransactions(): void {
  window.openTransactions = new Set();
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...args) {
    const begun = transaction.apply(this, args);
    window.openTransactions.add(begun);
    for (const end of ["complete", "abort"])
      begun.addEventListener(end, () => window.openTransactions.delete(begun));
    return begun;
  };
}

beforeAll(async () => {
  setting = await openEngineSetting();
  device = await openDevice(place());
  await device.browser.context.addInitScript(watchTransactions);
  await openDesk(device.page, place());
  await device.page.waitForFunction(() => window.desk.status().link === "online");
  second = await device.tab();
  phone = await setting.openPhone(actorId);
});
afterAll(async () => {
  await device?.dispose();
  await setting?.close();
});

const say = (page: Page, session: string, ...texts: string[]) =>
  page.evaluate(([id, all]) => window.desk.say(id, all), [session, texts] as const);
const leads = (page: Page) => page.evaluate(() => window.desk.status().leader);
const idsOnPhone = async (session: string) => (await phone.session(session).history()).map(({ id }) => id);

async function flush(page: Page): Promise<void> {
  expect(await page.evaluate(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
}

/** The two tabs, the one that leads first. */
async function byLead(): Promise<[Page, Page]> {
  await expect.poll(async () => Number(await leads(device.page)) + Number(await leads(second)), soon).toBe(1);
  return (await leads(device.page)) ? [device.page, second] : [second, device.page];
}

/**
 * Lets a page hang once none of its transactions is open. In the middle of one it would hold up the other tabs' writes as
 * well, for as long as the browser lets it, and no page can help that. No event comes before a hang, as none comes before
 * a page is stopped on a phone.
 */
function hang(page: Page, ms: number): Promise<void> {
  return page.evaluate((hangMs) => {
    const atRest = (): void => {
      if (window.openTransactions.size > 0) setTimeout(atRest, 1);
      else for (const until = Date.now() + hangMs; Date.now() < until; );
    };
    setTimeout(atRest, 5);
  }, ms);
}

test("[C38, C17] the leading tab hangs with its ops on the way and is told nothing: the lock is taken from it, and what it still does when it wakes has no second effect", async () => {
  const [leader, follower] = await byLead();
  await flush(leader);
  const texts = Array.from({ length: 30 }, (_, n) => `on the way ${n}`);
  // The relay has them, and its answers are still in the cable.
  setting.cable.hold();
  const ids = await say(leader, "hangs", ...texts);
  await expect.poll(() => idsOnPhone("hangs"), soon).toEqual(ids);
  await hang(leader, 40_000);
  // A follower that is not seen takes nothing over.
  await follower.bringToFront();
  await expect.poll(() => leads(follower), { timeout: 38_000 }).toBe(true);
  setting.cable.heal();
  const added = await say(follower, "hangs", "meanwhile");
  await flush(follower);
  await expect.poll(() => idsOnPhone("hangs"), soon).toEqual([...ids, ...added]);

  // Answers again only when it is awake.
  expect(await byLead()).toEqual([follower, leader]);
  const last = await say(leader, "hangs", "awake");
  await flush(leader);
  await expect.poll(() => idsOnPhone("hangs"), soon).toEqual([...ids, ...added, ...last]);
  expect(await textsOn(leader, "hangs")).toEqual([...texts, "meanwhile", "awake"]);
  expect((await leader.evaluate(() => window.desk.status())).rejected).toBe(0);
});

test("[C9, C25] three queued messages outlive a crash of their page", async () => {
  const page = await device.tab();
  setting.cable.cut();
  const ids = await say(page, "crashed", "first", "second", "third");
  const crash = page.waitForEvent("crash");
  page.goto("chrome://crash").catch(() => {});
  await crash;
  await page.close();
  const again = await device.browser.context.newPage();
  await openDesk(again, place());
  const wanted = ["first", "second", "third"].map((text, at) => ({ id: ids[at], text, delivery: "pending" }));
  await expect.poll(() => again.evaluate(() => window.desk.seen("crashed")), soon).toEqual(wanted);
  setting.cable.heal();
  await again.evaluate(() => window.desk.reconnect());
  await flush(again);
  await expect.poll(() => idsOnPhone("crashed"), soon).toEqual(ids);
  await again.close();
});

/** Appends a message of so many bytes; tells how it went, how long the call took, and the longest task meanwhile. */
function appendLarge(page: Page, session: string, bytes: number) {
  return page.evaluate(
    async ([id, length]) => {
      const content = "x".repeat(length);
      const tasks: number[] = [];
      const observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) tasks.push(duration);
      });
      observer.observe({ type: "longtask" });
      // A turn of its own: what the test's driver does around it is not counted.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const from = performance.now();
      const outcome = await window.desk
        .session(id)
        .append({ messages: [{ role: "user", content }] })
        .then(
          () => "committed",
          (error: { reason?: string }) => error.reason ?? String(error),
        );
      const tookMs = performance.now() - from;
      await new Promise((resolve) => setTimeout(resolve, 500));
      observer.disconnect();
      return { outcome, tookMs, longestMs: Math.max(0, ...tasks) };
    },
    [session, bytes] as const,
  );
}

test("[C51] a message of 5 MB is refused at the call, and nothing of it is kept", async () => {
  const [, follower] = await byLead();
  const told = await appendLarge(follower, "large", mebibytes5);
  console.log(`5 MB refused: ${Math.round(told.tookMs)} ms, longest task ${Math.round(told.longestMs)} ms`);
  expect(told.outcome).toBe("too-large");
  expect(await textsOn(follower, "large")).toEqual([]);
  expect((await follower.evaluate(() => window.desk.status())).pending).toBe(0);
});

test("[C51] a message just under the limit is committed and sent, and its tasks are measured", async () => {
  const [leader] = await byLead();
  const told = await appendLarge(leader, "nearly large", 1_000_000);
  console.log(`1 MB committed: ${Math.round(told.tookMs)} ms, longest task ${Math.round(told.longestMs)} ms`);
  expect(told.outcome).toBe("committed");
  await flush(leader);
  await expect.poll(async () => (await idsOnPhone("nearly large")).length, soon).toBe(1);
});
