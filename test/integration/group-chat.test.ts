import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Client } from "../../src/client.ts";
import { textOf } from "../../src/model/message.ts";
import { openClient } from "../../src/open-client.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { type ChatLine, readGroupChat } from "../support/real-input.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const CLIENTS = 20;
/** Each client writes line by line, and this many at most ahead of what the relay has acknowledged. */
const AHEAD = 32;

let relay: RelayProcess;
let clients: Client[] = [];

beforeAll(async () => {
  relay = await startRelayProcess();
  const options = {
    url: relay.url,
    actorId: "anna",
    storage: "memory",
    WebSocket,
  } as const;
  clients = await Promise.all(Array.from({ length: CLIENTS }, () => openClient(options)));
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await relay?.dispose();
});

async function speak(session: SyncedSession, lines: readonly ChatLine[], client: number): Promise<void> {
  const ahead = new Set<Promise<unknown>>();
  for (const [turn, { at, speaker, text }] of lines.entries()) {
    if (ahead.size >= AHEAD) await Promise.race(ahead);
    const message = { role: "user" as const, content: text, metadata: { at, speaker, client, turn } };
    const sent: Promise<unknown> = session
      .append({ messages: [message] }, { until: "confirmed" })
      .then(() => ahead.delete(sent));
    ahead.add(sent);
  }
  await Promise.all(ahead);
}

const lineOf = ({ at, speaker, text }: ChatLine): string => JSON.stringify([at, speaker, text]);

test("[C18, H2, T1] a real group chat replayed by 20 clients at once into one session: every line there once, one order everywhere", async () => {
  const lines = readGroupChat();
  const parts = clients.map((_, index) => lines.filter((_line, n) => n % CLIENTS === index));
  const sessions = clients.map((client) => client.session("channel"));
  const started = performance.now();
  await Promise.all(sessions.map((session, index) => speak(session, parts[index] ?? [], index)));
  const spokenMs = performance.now() - started;
  const [first, ...others] = sessions;
  if (first === undefined) throw new Error("no client");
  // Each acknowledged its own; those of the others are still coming in.
  for (const session of sessions)
    await expect
      .poll(async () => (await session.history()).length, { timeout: 60_000, interval: 100 })
      .toBe(lines.length);
  const log = await first.history();
  const ids = log.map(({ id }) => id);
  expect(new Set(ids).size).toBe(10_784);
  for (const session of others) expect((await session.history()).map(({ id }) => id)).toEqual(ids);
  const said = log.map((message) =>
    JSON.stringify([message.metadata.at, message.metadata.speaker, textOf(message)]),
  );
  expect([...said].sort()).toEqual(lines.map(lineOf).sort());
  // Nobody's own lines changed places.
  for (const [client, part] of parts.entries()) {
    const turns = log
      .filter(({ metadata }) => metadata.client === client)
      .map(({ metadata }) => metadata.turn);
    expect(turns).toEqual([...part.keys()]);
  }
  for (const { status } of clients) expect(status).toMatchObject({ pending: 0, rejected: 0 });
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  console.log(`spoken in ${seconds(spokenMs)} s, everywhere in ${seconds(performance.now() - started)} s`);
}, 400_000);
