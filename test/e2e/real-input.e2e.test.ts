import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { fromOpenAI } from "../../src/adapters/openai.ts";
import { serializeMessage } from "../../src/model/message.ts";
import { persistable } from "../../src/model/persistable.ts";
import { openClient } from "../../src/open-client.ts";
import { type CutProxy, openCutProxy } from "../support/cut-proxy.ts";
import { type Device, openDesk, openDevice } from "../support/device.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { readTranscripts } from "../support/real-input.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const soon = { timeout: 60_000 };
const actorId = "anna";
const transcripts = readTranscripts();

let relay: RelayProcess;
let site: PageServer;
let cable: CutProxy;
let laptop: Device;
/** Each session as it was handed back by the import: what every device must read. */
const imported = new Map<string, unknown[]>();

beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  cable = await openCutProxy(relay.port);
  cable.cut();
  laptop = await openDevice({ site: site.url, url: cable.url, actorId });
});

afterAll(async () => {
  await laptop?.dispose();
  await cable?.close();
  await Promise.all([relay?.dispose(), site?.close()]);
});

/** Message by message but for ids and times, which are made at the import. */
function content(messages: readonly object[]): object[] {
  return messages.map((message) => ({ ...message, id: undefined, createdAt: undefined }));
}

describe("60 conversations of an agent", () => {
  test("[H1, S9] are imported offline in one browser: system prompts stay out, calls keep their results", async () => {
    for (const { id, messages } of transcripts)
      imported.set(
        id,
        await laptop.page.evaluate(([session, chat]) => window.desk.importChat(session, chat), [
          id,
          messages,
        ] as const),
      );
    let calls = 0;
    for (const { id, messages } of transcripts) {
      const expected = persistable(fromOpenAI(messages)).map(serializeMessage);
      const stored = imported.get(id) as object[];
      expect(content(stored)).toEqual(content(expected));
      expect(stored).toHaveLength(messages.filter(({ role }) => role !== "system").length);
      calls += JSON.stringify(stored).split('"type":"tool_use"').length - 1;
    }
    expect(calls).toBe(
      transcripts.flatMap(({ messages }) => messages.flatMap((m) => m.tool_calls ?? [])).length,
    );
    expect(await laptop.page.evaluate(() => window.desk.status())).toMatchObject({
      pending: 60,
      rejected: 0,
    });
  });

  test("[H1] are all there after a reload that is still offline", async () => {
    await openDesk(laptop.page, { site: site.url, url: cable.url, actorId });
    expect(await laptop.page.evaluate(() => window.desk.status().pending)).toBe(60);
    for (const { id } of transcripts)
      expect(await laptop.page.evaluate((session) => window.desk.serialized(session), id)).toEqual(
        imported.get(id),
      );
  });

  test("[H2, H4] are on the relay once online, and equal message by message in a second browser and in Node", async () => {
    cable.heal();
    expect(await laptop.page.evaluate(() => window.desk.flush(60_000))).toEqual({ pending: 0 });
    const phone = await openDevice({ site: site.url, url: relay.url, actorId });
    const client = await openClient({
      url: relay.url,
      actorId,
      storage: "memory",
      WebSocket,
    });
    try {
      await expect
        .poll(async () => (await phone.page.evaluate(() => window.desk.list())).length, soon)
        .toBe(60);
      for (const { id } of transcripts) {
        expect(await phone.page.evaluate((session) => window.desk.serialized(session), id)).toEqual(
          imported.get(id),
        );
        const session = client.session(id);
        expect((await session.history()).map(serializeMessage)).toEqual(imported.get(id));
        await session.close();
      }
      expect(await laptop.page.evaluate(() => window.desk.status())).toMatchObject({
        pending: 0,
        rejected: 0,
      });
    } finally {
      await client.close();
      await phone.dispose();
    }
  });
});
