import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Client } from "../../src/client.ts";
import { textOf } from "../../src/model/message.ts";
import { openClient } from "../../src/open-client.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

let relay: RelayProcess;
const clients: Client[] = [];

async function open(): Promise<Client> {
  const client = await openClient({
    url: relay.url,
    actorId: "anna",
    storage: "memory",
    WebSocket,
  });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  relay = await startRelayProcess();
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await relay?.dispose();
});

/** Writes without a pause until told to stop, some lines ahead of the relay's acknowledgements. */
function streamInto(client: Client, id: string): { stop(): Promise<string[]> } {
  const session = client.session(id);
  const written: string[] = [];
  let stopped = false;
  const ahead = new Set<Promise<unknown>>();
  const writing = (async () => {
    while (!stopped) {
      if (ahead.size >= 8) await Promise.race(ahead);
      const content = `stream ${written.length}`;
      written.push(content);
      const sent: Promise<unknown> = session
        .append({ messages: [{ role: "user", content }] }, { until: "confirmed" })
        .then(() => ahead.delete(sent));
      ahead.add(sent);
    }
    await Promise.all(ahead);
  })();
  return {
    stop: async () => {
      stopped = true;
      await writing;
      return written;
    },
  };
}

for (const [where, session] of Object.entries({ "another session": "quiet", "the same session": "busy" })) {
  test(`[C18, P32] a device that comes while another writes without a pause gets its turn, in ${where}`, async () => {
    const busy = await open();
    await busy.session("busy").append({ messages: [] }, { until: "confirmed" });
    const stream = streamInto(busy, "busy");
    const comer = await open();
    const words = ["I came later", "and said more"];
    for (const content of words)
      await comer.session(session).append({ messages: [{ role: "user", content }] }, { until: "confirmed" });
    const written = await stream.stop();
    expect(await busy.flush()).toEqual({ pending: 0 });
    const log = await busy.session("busy").history();
    const texts = log.map(textOf);
    expect(texts.filter((text) => text.startsWith("stream")).slice(-written.length)).toEqual(written);
    await expect
      .poll(async () => (await comer.session("busy").history()).map(({ id }) => id), { timeout: 20_000 })
      .toEqual(log.map(({ id }) => id));
    const theirs = (await busy.session(session).history()).map(textOf).filter((text) => words.includes(text));
    expect(theirs).toEqual(words);
  }, 60_000);
}
