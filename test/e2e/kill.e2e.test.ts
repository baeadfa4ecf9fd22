import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CutProxy, openCutProxy } from "../support/cut-proxy.ts";
import { type Device, openDesk, openDevice, textsOn } from "../support/device.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const soon = { timeout: 20_000 };
const actorId = "anna";

let relay: RelayProcess;
let site: PageServer;
let cable: CutProxy;
let device: Device;
/** Another person's machine would do as well: it reads what reached the relay. */
let reader: Device;

const desk = () => ({ site: site.url, url: cable.url, actorId });

beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  cable = await openCutProxy(relay.port);
  [device, reader] = await Promise.all([
    openDevice(desk()),
    openDevice({ site: site.url, url: relay.url, actorId }),
  ]);
});

afterAll(async () => {
  await Promise.all([device?.dispose(), reader?.dispose()]);
  await cable?.close();
  await Promise.all([relay?.dispose(), site?.close()]);
});

beforeEach(() => cable.cut());

/** After the end of a page: a new one shows the same three, pending, with their ids; healed, they are sent in that order. */
async function threeReturn(session: string, ids: readonly string[]): Promise<void> {
  const texts = ["first", "second", "third"];
  await device.page.evaluate((id) => window.desk.seen(id), session);
  await expect
    .poll(() => device.page.evaluate((id) => window.desk.seen(id), session), soon)
    .toEqual(texts.map((text, at) => ({ id: ids[at], text, delivery: "pending" })));
  cable.heal();
  expect(await device.page.evaluate(() => window.desk.flush(40_000))).toEqual({ pending: 0 });
  await expect.poll(() => textsOn(reader.page, session), soon).toEqual(texts);
  const received = await reader.page.evaluate((id) => window.desk.serialized(id), session);
  expect(received.map(({ id }) => id)).toEqual(ids);
  expect(await device.page.evaluate(() => window.desk.status().rejected)).toBe(0);
}

test("[C9, H1] at pagehide right after append resolved, the row is in IndexedDB", async () => {
  const id = await device.page.evaluate(
    () => window.holdfast.createMessage({ role: "user", content: "" }).id,
  );
  const left = device.page.waitForURL("about:blank");
  await device.page.evaluate((given) => {
    const message = { id: given, role: "user", content: "last words" } as const;
    const append = window.desk.session("pagehide").append({ messages: [message] });
    // In the turn in which the append resolves the page is told to leave; nothing later of it is waited for.
    void append.then(() => location.replace("about:blank"));
  }, id);
  await left;
  // Read as bytes of the database, not through the SDK.
  await device.page.goto(site.url);
  await device.page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const stored = await device.page.evaluate(async () => {
    const found: string[] = [];
    for (const { name } of await indexedDB.databases()) {
      const db = new window.libraries.Dexie(name ?? "");
      await db.open();
      found.push(JSON.stringify(await db.table("outbox").toArray()));
      db.close();
    }
    return found.join("\n");
  });
  expect(stored).toContain(id);
  expect(stored).toContain("last words");
  await device.page.evaluate((given) => window.desk.open(given), { url: cable.url, actorId });
  expect(await textsOn(device.page, "pagehide")).toEqual(["last words"]);
});

test("[C9, C39] three queued messages outlive the closing of their tab", async () => {
  const page = await device.tab();
  const ids = await page.evaluate(() => window.desk.say("closed", ["first", "second", "third"]));
  await page.close();
  await threeReturn("closed", ids);
});

test("[C9, C25] three queued messages outlive a crash of their page", async () => {
  const ids = await device.page.evaluate(() => window.desk.say("crashed", ["first", "second", "third"]));
  const crash = device.page.waitForEvent("crash");
  device.page.goto("chrome://crash").catch(() => {});
  await crash;
  const page = await device.browser.context.newPage();
  await openDesk(page, desk());
  device = { ...device, page };
  await threeReturn("crashed", ids);
});

/** The process of a browser, above those of its pages. */
async function processOf(context: BrowserContext): Promise<number> {
  const session = await context.browser()?.newBrowserCDPSession();
  const info = await session?.send("SystemInfo.getProcessInfo");
  const pid = info?.processInfo.find(({ type }) => type === "browser")?.id;
  if (pid === undefined) throw new Error("the browser does not tell its process");
  return pid;
}

test("[C9, C25] three queued messages outlive SIGKILL of the whole browser", async () => {
  const ids = await device.page.evaluate(() => window.desk.say("killed", ["first", "second", "third"]));
  const { profile, context } = device.browser;
  const closed = new Promise((resolve) => context.once("close", resolve));
  process.kill(await processOf(context), "SIGKILL");
  await closed;
  device = await openDevice({ ...desk(), profile });
  await threeReturn("killed", ids);
});
