import { expect, test } from "vitest";
import { seededRandom } from "../../src/testing/random.ts";
import { startRelayProcess } from "../support/relay-process.ts";
import { RawWriter, readLog } from "./raw-writer.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What was acknowledged is there, at its place; what was sent and not acknowledged is there in order, or not at all. */
async function check(url: string, writer: RawWriter): Promise<void> {
  const log = await readLog(url, writer.session);
  expect(log.length).toBeGreaterThanOrEqual(writer.acknowledged);
  expect(log).toEqual(writer.sent.slice(0, log.length));
}

test("[C5] killed twenty times at random moments under load, the relay has lost no acknowledged message", async () => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  console.log(`seed ${seed}`);
  const writers = [1, 4, 16, 16].map((inFlight, n) => new RawWriter(`s${n}`, inFlight));
  const relay = await startRelayProcess();
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(writers.map((writer) => writer.start(relay.url)));
    await wait(random.below(400));
    await relay.kill();
    for (const writer of writers) writer.stop();
    await relay.restart();
    for (const writer of writers) await check(relay.url, writer);
  }
  await Promise.all(writers.map((writer) => writer.finish(relay.url)));
  for (const writer of writers) {
    await check(relay.url, writer);
    expect(writer.acknowledged).toBe(writer.sent.length);
  }
  const sum = (of: (writer: RawWriter) => number): number =>
    writers.reduce((total, one) => total + of(one), 0);
  const [messages, known] = [sum((writer) => writer.acknowledged), sum((writer) => writer.known)];
  console.log(
    `${messages} messages acknowledged over 20 kills, ${known} ops found durable and unanswered; none lost`,
  );
  expect(messages).toBeGreaterThan(100);
  expect(await relay.stop()).toBe(0);
  await relay.dispose();
}, 240_000);

test("[C5] asked to end under load, the relay answers what it has begun, ends well and has lost nothing", async () => {
  const writers = [4, 16].map((inFlight, n) => new RawWriter(`s${n}`, inFlight));
  const relay = await startRelayProcess();
  await Promise.all(writers.map((writer) => writer.start(relay.url)));
  await wait(300);
  const ended = relay.stop();
  await wait(20);
  for (const writer of writers) writer.stop();
  expect(await ended).toBe(0);
  await relay.restart();
  for (const writer of writers) {
    expect(writer.acknowledged).toBeGreaterThan(0);
    await check(relay.url, writer);
  }
  await relay.dispose();
}, 60_000);
