import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import { type Browser, openChromium } from "../support/chromium.ts";
import { soon } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";

// Only Chromium can be told how much room there is.
const QUOTA_BYTES = 8_000_000;
const LARGE_BYTES = 600_000;
const actorId = "full";

let setting: EngineSetting;
let browser: Browser;
beforeAll(async () => {
  [setting, browser] = await Promise.all([openEngineSetting(), openChromium()]);
});
afterAll(async () => {
  await browser?.dispose();
  await setting?.close();
});

/** Writes one large message and tells what became of it, and how long that took. */
const writeLarge = (page: Page, name: string) =>
  page.evaluate(
    async ([label, bytes]) => {
      const noise = Array.from({ length: bytes / 50_000 }, () =>
        btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(37_500)))),
      ).join("");
      const begun = performance.now();
      const told = await window.desk.say("talk", [`${label} ${noise}`]).then(
        () => ({ name: "", reason: "" }),
        (error: { name: string; reason?: string }) => ({ name: error.name, reason: error.reason ?? "" }),
      );
      return { ...told, tookMs: performance.now() - begun };
    },
    [name, LARGE_BYTES] as const,
  );

const labels = (page: Page) =>
  page.evaluate(async () => (await window.desk.texts("talk")).map((text) => text.split(" ")[0]));

test("[C50, H1] no room: the write rejects within 2 s as quota, what was stored stays, small writes go on, nothing unsent is lost", async () => {
  const phone = await setting.openPhone(actorId);
  const page = await browser.context.newPage();
  await page.goto(setting.site.url);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  // Before the database is opened: the browser looks only now and then how much room there is.
  const control: CDPSession = await browser.context.newCDPSession(page);
  const origin = new URL(setting.site.url).origin;
  await control.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: QUOTA_BYTES });
  await page.evaluate((given) => window.desk.open(given), { url: setting.cable.url, actorId });
  await page.evaluate(() => window.desk.say("talk", ["sent"]));
  expect(await page.evaluate(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
  setting.cable.cut();

  const stored = ["sent"];
  let refused: Awaited<ReturnType<typeof writeLarge>> | undefined;
  for (let n = 0; refused === undefined && n < 60; n++) {
    const written = await writeLarge(page, `large${n}`);
    if (written.name === "") stored.push(`large${n}`);
    else refused = written;
  }
  expect(stored.length).toBeGreaterThan(3);
  expect(refused).toMatchObject({ name: "StorageError", reason: "quota" });
  expect(refused?.tookMs).toBeLessThan(2_000);
  expect(await labels(page)).toEqual(stored);
  for (const small of ["small1", "small2"]) {
    await page.evaluate((text) => window.desk.say("talk", [text]), small);
    stored.push(small);
  }
  expect(await labels(page)).toEqual(stored);
  await expect.poll(() => page.evaluate(() => window.desk.status().pending), soon).toBe(stored.length - 1);
  // All of it is on disk.
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  await page.evaluate((given) => window.desk.open(given), { url: setting.cable.url, actorId });
  expect(await labels(page)).toEqual(stored);

  await control.send("Storage.overrideQuotaForOrigin", { origin });
  setting.cable.heal();
  await page.evaluate(() => window.desk.reconnect());
  expect(await page.evaluate(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
  await expect
    .poll(async () => (await phone.session("talk").history()).map((one) => textOf(one).split(" ")[0]), soon)
    .toEqual(stored);
});
