import { expect, test } from "vitest";
import { jsonLogger, reporterOf } from "../../server/logger.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { faultyStorage } from "./faulty-storage.ts";
import { append, message } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

test("one JSON line an event; debug only when asked for", () => {
  const lines: string[] = [];
  const clock = new TestClock();
  const quiet = jsonLogger((line) => lines.push(line), { clock });
  quiet.report("info", "listening", { url: "ws://x", limit: undefined });
  quiet.report("debug", "detail");
  jsonLogger((line) => lines.push(line), { clock, debug: true }).report("debug", "detail");
  const time = "2025-01-01T00:00:00.000Z";
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { time, level: "info", event: "listening", url: "ws://x" },
    { time, level: "debug", event: "detail" },
  ]);
  expect(lines.every((line) => line.endsWith("\n"))).toBe(true);
});

test("a logger with a method a level will do", () => {
  const told: unknown[] = [];
  const take = (level: string) => (facts: object, event: string) => told.push([level, facts, event]);
  const reporter = reporterOf({ error: take("error"), info: take("info"), debug: take("debug") });
  reporter.report("error", "commit-failed", { writes: 2 });
  reporter.report("info", "closed");
  expect(told).toEqual([
    ["error", { writes: 2 }, "commit-failed"],
    ["info", {}, "closed"],
  ]);
});

test("[H7] no text of a message and no token is logged, whatever goes wrong", async () => {
  const lines: string[] = [];
  const clock = new TestClock();
  const reporter = jsonLogger((line) => lines.push(line), { clock, debug: true });
  const { storage, faults } = faultyStorage(memoryStorage());
  const relay = await testRelay({
    clock,
    storage,
    reporter,
    authenticate: async (token) => {
      if (token !== "ann") throw new Error(`no such token: ${token}`);
      return { actorId: "ann" };
    },
  });
  const stranger = relay.connect();
  await stranger.hello("ann", "hunter2");
  const client = relay.connect();
  await client.hello("ann", "ann");
  faults.refuse = () => true;
  await client.expect("refusal", { ...append("s", []), messages: [message("a", "private words")] });
  faults.failReads = true;
  await client.ask({ type: "catalog", id: "c", cursor: 0 });
  await client.ask({ type: "unheard-of private words" });
  expect(lines.length).toBeGreaterThanOrEqual(4);
  expect(lines.join("")).not.toMatch(/hunter2|private words/);
});
