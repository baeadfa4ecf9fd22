import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countIndexedDb, type IndexedDbCounts } from "../support/count-indexed-db.ts";
import { type CutProxy, openCutProxy } from "../support/cut-proxy.ts";
import { type Device, openDesk, openDevice } from "../support/device.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { readGroupChat } from "../support/real-input.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const soon = { timeout: 60_000 };
const actorId = "anna";
const lines = readGroupChat();

let relay: RelayProcess;
let site: PageServer;
let cable: CutProxy;
let device: Device;
const desk = () => ({ site: site.url, url: cable.url, actorId });

beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  cable = await openCutProxy(relay.port);
  device = await openDevice(desk());
  await device.browser.context.addInitScript(countIndexedDb);
});

afterAll(async () => {
  await device?.dispose();
  await cable?.close();
  await Promise.all([relay?.dispose(), site?.close()]);
});

/** Resolves when nothing has gone through the cable for a while. */
async function quiet(): Promise<void> {
  let [seen, since] = [-1, 0];
  const still = () => {
    const { up, down } = cable.bytes;
    if (up + down !== seen) [seen, since] = [up + down, performance.now()];
    return performance.now() - since;
  };
  await expect.poll(still, { ...soon, interval: 50 }).toBeGreaterThan(700);
}

/** What `work` in the page asks of IndexedDB and of the line, until both are still. */
async function cost(work: () => Promise<void>): Promise<IndexedDbCounts & { up: number; down: number }> {
  await quiet();
  const counts = () => device.page.evaluate(() => ({ ...window.indexedDbCounts }));
  const [before, line] = [await counts(), cable.bytes];
  await work();
  await quiet();
  const after = await counts();
  return {
    rows: after.rows - before.rows,
    messages: after.messages - before.messages,
    writes: after.writes - before.writes,
    up: cable.bytes.up - line.up,
    down: cable.bytes.down - line.down,
  };
}

describe(`one session of ${lines.length} messages`, () => {
  test("[H1, H9] is written by one checkpoint and reaches the relay whole", async () => {
    const written = await device.page.evaluate(async (chat) => {
      const messages = chat.map(({ at, speaker, text }) => ({
        role: "user" as const,
        content: text,
        metadata: { speaker, at },
      }));
      const snapshot = await window.desk.session("chat").checkpoint({ messages });
      return snapshot.messages.length;
    }, lines);
    expect(written).toBe(10_784);
    expect(await device.page.evaluate(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
  });

  test("[H11] opening it shows the last 50, and reads neither the rest nor as many rows", async () => {
    await quiet();
    await openDesk(device.page, desk());
    const shown = await device.page.evaluate(async () => {
      const started = performance.now();
      const { messages } = window.desk.session("chat");
      await new Promise<void>((resolve) => {
        const look = () => {
          if (messages.entries.length > 0) resolve();
        };
        messages.subscribe(look);
        look();
      });
      const texts = messages.entries.map(({ message }) => window.holdfast.textOf(message));
      const counts = { ...window.indexedDbCounts };
      return { texts, hasEarlier: messages.hasEarlier, counts, ms: performance.now() - started };
    });
    expect(shown.texts).toEqual(lines.slice(-50).map(({ text }) => text));
    expect(shown.hasEarlier).toBe(true);
    // A hundred messages are sealed into one row at most, so the last 50 stand in two.
    expect(shown.counts.messages).toBeLessThanOrEqual(200);
    expect(shown.counts.rows).toBeLessThanOrEqual(120);
    await quiet();
    const after = await device.page.evaluate(() => ({ ...window.indexedDbCounts }));
    expect(after.messages).toBeLessThanOrEqual(400);
    console.log(
      `opening: ${JSON.stringify(shown.counts)} in ${shown.ms.toFixed(1)} ms; once connected ${JSON.stringify(after)}`,
    );
  });

  test("[S7, H11] a checkpoint of the whole unchanged history writes nothing, here or on the line", async () => {
    await device.page.evaluate(async () => {
      window.kept = await window.desk.session("chat").history();
    });
    for (let round = 0; round < 2; round++) {
      const spent = await cost(async () => {
        await device.page.evaluate(async () => {
          await window.desk.session("chat").checkpoint({ messages: window.kept });
        });
      });
      expect(spent).toMatchObject({ writes: 0, up: 0, down: 0 });
    }
    // Not only for the same objects: a run hands back messages that were parsed anew.
    const parsed = await cost(async () => {
      await device.page.evaluate(async () => {
        const { parseMessage, serializeMessage } = window.holdfast;
        const messages = window.kept.map((message) => parseMessage(serializeMessage(message)));
        await window.desk.session("chat").checkpoint({ messages });
      });
    });
    expect(parsed).toMatchObject({ writes: 0, up: 0, down: 0 });
  });

  test("[S7, H11] one with a new message sends only that", async () => {
    const text = "the ten thousand seven hundred eighty-fifth";
    const spent = await cost(async () => {
      await device.page.evaluate(async (content) => {
        const messages = [...window.kept, { role: "user" as const, content }];
        await window.desk.session("chat").checkpoint({ messages });
      }, text);
      expect(await device.page.evaluate(() => window.desk.flush(30_000))).toEqual({ pending: 0 });
    });
    console.log(`one new message: ${JSON.stringify(spent)}`);
    expect(spent.up).toBeGreaterThan(text.length);
    expect(spent.up).toBeLessThan(1_500);
    expect(spent.down).toBeLessThan(1_500);
    expect(spent.writes).toBeLessThan(30);
    expect(spent.messages).toBeLessThanOrEqual(400);
    const last = await device.page.evaluate(() => window.desk.seen("chat").at(-1));
    expect(last).toMatchObject({ text, delivery: "confirmed" });
  });
});
