import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CutProxy, openCutProxy } from "../support/cut-proxy.ts";
import { type Device, openDevice, textsOn } from "../support/device.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const soon = { timeout: 20_000 };

let relay: RelayProcess;
let site: PageServer;
let cable: CutProxy;
let device: Device;
let second: Page;

beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  cable = await openCutProxy(relay.port);
  device = await openDevice({ site: site.url, url: cable.url, actorId: "anna" });
  await device.page.waitForFunction(() => window.desk.status().link === "online");
  second = await device.tab();
});

afterAll(async () => {
  await device?.dispose();
  await cable?.close();
  await Promise.all([relay?.dispose(), site?.close()]);
});

const leads = (page: Page) => page.evaluate(() => window.desk.status().leader);

/** Has a page note when its live window first shows a text, by the clock that all tabs share. */
function shownAt(page: Page, session: string, text: string): Promise<number> {
  return page.evaluate(
    ([id, wanted]) =>
      new Promise<number>((resolve) => {
        const look = () => {
          if (window.desk.seen(id).some((line) => line.text === wanted)) resolve(Date.now());
        };
        window.desk.session(id).messages.subscribe(look);
        look();
      }),
    [session, text] as const,
  );
}

/** How long until what one tab says shows in the other, from the moment its append resolved. */
async function carries(from: Page, to: Page, text: string): Promise<number> {
  await to.evaluate(() => window.desk.seen("shared"));
  const shown = shownAt(to, "shared", text);
  const written = await from.evaluate(async (line) => {
    await window.desk.say("shared", [line]);
    return Date.now();
  }, text);
  return (await shown) - written;
}

test("[C37, H12] of two tabs one leads and connects, and both say the same of the connection", async () => {
  expect([await leads(device.page), await leads(second)]).toEqual([true, false]);
  await expect.poll(() => second.evaluate(() => window.desk.status().link), soon).toBe("online");
  expect(cable.accepted).toBe(1);
});

test("[H1, C37] each tab sees within a second what the other wrote, and both are sent", async () => {
  expect(await carries(device.page, second, "from the leader")).toBeLessThan(1_000);
  expect(await carries(second, device.page, "from the follower")).toBeLessThan(1_000);
  expect(await second.evaluate(() => window.desk.flush(20_000))).toEqual({ pending: 0 });
  const both = ["from the leader", "from the follower"];
  expect(await textsOn(device.page, "shared")).toEqual(both);
  expect(await textsOn(second, "shared")).toEqual(both);
  for (const page of [device.page, second])
    await expect
      .poll(() => page.evaluate(() => window.desk.seen("shared").map(({ delivery }) => delivery)), soon)
      .toEqual(["confirmed", "confirmed"]);
});

test("[H12, C37] what waits is the same number in both tabs while the line is cut", async () => {
  cable.cut();
  await expect.poll(() => second.evaluate(() => window.desk.status().link), soon).not.toBe("online");
  await second.evaluate(() => window.desk.say("shared", ["offline 1", "offline 2"]));
  for (const page of [device.page, second])
    await expect.poll(() => page.evaluate(() => window.desk.status().pending), { timeout: 1_000 }).toBe(2);
  cable.heal();
  // The follower's word reaches the one that holds the connection.
  await second.evaluate(() => window.desk.reconnect());
  expect(await second.evaluate(() => window.desk.flush(20_000))).toEqual({ pending: 0 });
});

test("[C39, H1] closing the leader hands over, with what it had not sent", async () => {
  cable.cut();
  const ids = await device.page.evaluate(() => window.desk.say("shared", ["left behind 1", "left behind 2"]));
  await device.page.close();
  await expect.poll(() => leads(second), soon).toBe(true);
  cable.heal();
  await second.evaluate(() => window.desk.reconnect());
  expect(await second.evaluate(() => window.desk.flush(20_000))).toEqual({ pending: 0 });
  await expect.poll(() => second.evaluate(() => window.desk.status().link), soon).toBe("online");
  const shown = await second.evaluate(() => window.desk.seen("shared"));
  expect(shown.slice(-2).map(({ id, delivery }) => ({ id, delivery }))).toEqual(
    ids.map((id) => ({ id, delivery: "confirmed" })),
  );
});
