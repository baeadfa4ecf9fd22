import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CutProxy, openCutProxy } from "../support/cut-proxy.ts";
import { type Device, openDevice, textsOn } from "../support/device.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

/** Polls end at the first success; this only bounds a failing run on a busy machine. */
const soon = { timeout: 20_000 };

let relay: RelayProcess;
let site: PageServer;
let cable: CutProxy;
let laptop: Device;
let phone: Device;

// The laptop's line can be cut; the phone's cannot. Both are the same person's.
const actorId = "anna";
const laptopDesk = () => ({ site: site.url, url: cable.url, actorId });

beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  cable = await openCutProxy(relay.port);
  [laptop, phone] = await Promise.all([
    openDevice(laptopDesk()),
    openDevice({ site: site.url, url: relay.url, actorId }),
  ]);
});

afterAll(async () => {
  await Promise.all([laptop?.dispose(), phone?.dispose()]);
  await cable?.close();
  await Promise.all([relay?.dispose(), site?.close()]);
});

const say = (device: Device, session: string, ...texts: string[]) =>
  device.page.evaluate(([id, all]) => window.desk.say(id, all), [session, texts] as const);
const status = (device: Device) => device.page.evaluate(() => window.desk.status());
const texts = (device: Device, session: string) => textsOn(device.page, session);

async function untilOnline(device: Device): Promise<void> {
  await expect.poll(async () => (await status(device)).link, { timeout: 35_000 }).toBe("online");
}

async function flush(device: Device): Promise<void> {
  expect(await device.page.evaluate(() => window.desk.flush(35_000))).toEqual({ pending: 0 });
}

/** Both show the same lines, as many as there should be; tells them. */
async function converged(session: string, count: number): Promise<string[]> {
  await expect.poll(async () => (await texts(laptop, session)).length, soon).toBe(count);
  await expect.poll(() => texts(phone, session), soon).toEqual(await texts(laptop, session));
  return texts(laptop, session);
}

test("[H2, H4] the relay is killed and started again in the middle: nothing is lost, doubled or out of order", async () => {
  await Promise.all([untilOnline(laptop), untilOnline(phone)]);
  const spoken = { laptop: [] as string[], phone: [] as string[] };
  let killing = true;
  const writer = async (name: "laptop" | "phone", device: Device) => {
    while (killing) {
      const from = spoken[name].length;
      const lines = Array.from({ length: 4 }, (_, n) => `${name} ${from + n}`);
      spoken[name].push(...lines);
      await say(device, "killed", ...lines);
      await setTimeout(20);
    }
  };
  const killer = async () => {
    for (let kill = 1; kill <= 2; kill++) {
      // In the middle: some of each are known to be on the relay, and both go on writing until the last kill is over.
      for (const [from, to] of [
        [laptop, "phone"],
        [phone, "laptop"],
      ] as const)
        await expect
          .poll(async () => (await texts(from, "killed")).filter((line) => line.startsWith(to)).length, soon)
          .toBeGreaterThan(40 * kill);
      await relay.kill();
      await relay.restart();
      for (const device of [laptop, phone]) await device.page.evaluate(() => window.desk.reconnect());
      await Promise.all([untilOnline(laptop), untilOnline(phone)]);
    }
  };
  const killed = killer().finally(() => (killing = false));
  await Promise.all([killed, writer("laptop", laptop), writer("phone", phone)]);
  await Promise.all([flush(laptop), flush(phone)]);
  const lines = await converged("killed", spoken.laptop.length + spoken.phone.length);
  expect(lines.filter((line) => line.startsWith("laptop"))).toEqual(spoken.laptop);
  expect(lines.filter((line) => line.startsWith("phone"))).toEqual(spoken.phone);
  expect(await status(laptop)).toMatchObject({ pending: 0, rejected: 0 });
});
