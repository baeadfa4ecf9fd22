// A network that lies, before a real browser: slow, a portal's page in the relay's place, a relay that answers and dies.
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createWireServer } from "node:net";
import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { createMessage } from "../../src/index.ts";
import { soon } from "../support/desk-tab.ts";
import { type Device, openDevice, textsOn } from "../support/device.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";

const actorId = "anna";
let setting: EngineSetting;
let laptop: Device;

beforeAll(async () => {
  setting = await openEngineSetting();
  laptop = await openDevice({ site: setting.site.url, url: setting.cable.url, actorId });
  await laptop.page.waitForFunction(() => window.desk.status().link === "online");
});
afterAll(async () => {
  await laptop?.dispose();
  await setting?.close();
});

const status = () => laptop.page.evaluate(() => window.desk.status());
const say = (...texts: string[]) => laptop.page.evaluate((all) => window.desk.say("told", all), texts);
const flush = () => laptop.page.evaluate(() => window.desk.flush(60_000));

/** What stands where the relay was, for that long: the browser's connections to it are counted. */
async function inPlaceOfRelay(place: Server, forMs: number): Promise<number> {
  let connections = 0;
  place.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => place.listen(0, "127.0.0.1", resolve));
  setting.cable.retarget((place.address() as AddressInfo).port);
  setting.cable.cut();
  setting.cable.heal();
  await pass(forMs);
  setting.cable.retarget(setting.relay.port);
  place.closeAllConnections();
  await new Promise((resolve) => place.close(resolve));
  return connections;
}

/** Everything that was said is on the relay once, in order, and the browser shows it. */
async function allThere(wanted: readonly string[]): Promise<void> {
  await laptop.page.evaluate(() => window.desk.reconnect());
  expect(await flush()).toEqual({ pending: 0 });
  const phone = await setting.openPhone(actorId);
  await expect
    .poll(async () => (await phone.session("told").history()).map(({ content }) => content), soon)
    .toEqual(wanted.map((text) => [{ type: "text", text }]));
  expect(await textsOn(laptop.page, "told")).toEqual(wanted);
  expect((await status()).rejected).toBe(0);
}

test("[C29] a portal answers with a page where the relay was: offline and not refused, few attempts, and all goes out afterwards", async () => {
  await say("before the portal");
  expect(await flush()).toEqual({ pending: 0 });
  const portal = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Please sign in</title>");
  });
  // A portal knows no upgrade: it answers that, too, with its page.
  portal.on("upgrade", (_, wire) => {
    wire.end("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\nhello");
  });
  const [attempts] = await Promise.all([inPlaceOfRelay(portal, 15_000), say("behind the portal")]);
  expect(attempts).toBeLessThan(10);
  expect(attempts).toBeGreaterThan(1);
  expect(await status()).toMatchObject({ pending: 1, rejected: 0 });
  expect(["offline", "connecting"]).toContain((await status()).link);
  await allThere(["before the portal", "behind the portal"]);
});

test("[C29] a relay that accepts and dies at once: few attempts, nothing lost, and all goes out afterwards", async () => {
  const dying = createServer();
  const upgrader = new WebSocketServer({ server: dying });
  upgrader.on("connection", (socket) => socket.on("message", () => socket.terminate()));
  const [attempts] = await Promise.all([inPlaceOfRelay(dying, 15_000), say("to the dying")]);
  expect(attempts).toBeLessThan(10);
  expect(attempts).toBeGreaterThan(1);
  expect(await status()).toMatchObject({ pending: 1, rejected: 0 });
  await allThere(["before the portal", "behind the portal", "to the dying"]);
});

test("[C34] a line that takes connections and never answers: the time limit ends the attempt, and the next one gets through", async () => {
  const mute = createWireServer((wire) => wire.on("error", () => wire.destroy()));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  setting.cable.retarget((mute.address() as AddressInfo).port);
  setting.cable.cut();
  setting.cable.heal();
  await say("to the mute");
  await expect.poll(async () => (await status()).link, soon).toBe("connecting");
  setting.cable.retarget(setting.relay.port);
  // Nobody asks for it: the attempt that hangs ends by itself.
  await expect.poll(async () => (await status()).link, { timeout: 40_000 }).toBe("online");
  mute.close();
  await allThere(["before the portal", "behind the portal", "to the dying", "to the mute"]);
});

test("[C33] a first sync over a line of 20 kB a second takes a minute, is never begun anew, and shows all", async () => {
  const phone = await setting.openPhone("slow");
  const texts = Array.from({ length: 1_200 }, (_, n) => `${n} `.padEnd(900, "."));
  for (let from = 0; from < texts.length; from += 100) {
    const messages = texts.slice(from, from + 100).map((content) => createMessage({ role: "user", content }));
    await phone.session("long").append({ messages });
  }
  expect(await phone.flush({ timeoutMs: 60_000 })).toEqual({ pending: 0 });

  const slow = await openDevice({ site: setting.site.url, url: setting.relay.url, actorId: "nobody" });
  await slow.page.evaluate(() => window.desk.close());
  setting.cable.throttle(20_000);
  const { accepted, bytes } = setting.cable;
  const began = performance.now();
  try {
    await slow.page.evaluate((url) => window.desk.open({ url, actorId: "slow" }), setting.cable.url);
    await expect
      .poll(() => slow.page.evaluate(() => window.desk.texts("long")), { timeout: 110_000 })
      .toEqual(texts);
    const tookMs = performance.now() - began;
    console.log(`${setting.cable.bytes.down - bytes.down} bytes in ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeGreaterThan(50_000);
    expect(setting.cable.accepted - accepted).toBe(1);
  } finally {
    setting.cable.throttle();
    await slow.dispose();
  }
});
