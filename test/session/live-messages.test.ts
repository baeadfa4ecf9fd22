import { expect, test } from "vitest";
import { createMessage, type Message } from "../../src/model/message.ts";
import { LiveMessages, WINDOW_MESSAGES } from "../../src/session/live-messages.ts";
import type { LiveStore } from "../../src/store/live-store.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A log that grows when the test says so, and counts how many messages were asked for. */
function growingLog() {
  let log: Message[] = [];
  let changed: () => void = () => {};
  const asked: number[] = [];
  const store: Pick<LiveStore, "window" | "watch"> = {
    window: async (_id, count) => {
      asked.push(count);
      const entries = log.slice(-count).map((message) => ({ message, delivery: "confirmed" as const }));
      return { entries, hasEarlier: log.length > count, total: log.length };
    },
    watch: (_id, listener) => {
      changed = listener;
      return () => {};
    },
  };
  const grow = async (by: number): Promise<void> => {
    log = [
      ...log,
      ...Array.from({ length: by }, (_, n) => createMessage({ role: "user", content: `${log.length + n}` })),
    ];
    changed();
    await turn();
  };
  return { live: new LiveMessages(store as LiveStore, "s"), grow, asked };
}

test("[H11] a session that is still being fetched shows its end, and never grows to the whole history", async () => {
  const { live, grow, asked } = growingLog();
  live.subscribe(() => {});
  await turn();
  for (let page = 0; page < 20; page += 1) await grow(500);
  expect(live.entries).toHaveLength(WINDOW_MESSAGES);
  expect(live.hasEarlier).toBe(true);
  expect(Math.max(...asked)).toBe(WINDOW_MESSAGES);
});

test("what is shown stays shown when messages come one by one behind it", async () => {
  const { live, grow } = growingLog();
  live.subscribe(() => {});
  await grow(WINDOW_MESSAGES);
  const first = live.entries[0];
  for (let n = 0; n < 30; n += 1) await grow(1);
  expect(live.entries).toHaveLength(WINDOW_MESSAGES + 30);
  expect(live.entries[0]).toBe(first);
});

test("earlier messages come in front, as many as asked for", async () => {
  const { live, grow } = growingLog();
  live.subscribe(() => {});
  await grow(200);
  await live.loadEarlier(25);
  expect(live.entries).toHaveLength(WINDOW_MESSAGES + 25);
  await live.loadEarlier(1_000);
  expect(live.entries).toHaveLength(200);
  expect(live.hasEarlier).toBe(false);
});
