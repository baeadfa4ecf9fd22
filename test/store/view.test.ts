import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMessage, serializeMessage, textOf } from "../../src/model/message.ts";
import { draftOf, enqueue } from "../../src/store/enqueue.ts";
import { integrateEntry, integratePage } from "../../src/store/integrate.ts";
import type { Intent } from "../../src/store/live-store.ts";
import { findSession } from "../../src/store/session-rows.ts";
import { ViewCache } from "../../src/store/view-cache.ts";
import { readWindow } from "../../src/store/view-window.ts";
import { AT, Disk, entryOf, headOf, pageOf } from "./sync-setting.ts";

type Step = readonly [
  kind: "append" | "replace" | "restore" | "land" | "land replace" | "read",
  size: number,
];
const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0]>("append", "replace", "restore", "land", "land replace", "read"),
    fc.nat(4),
  ),
  { maxLength: 14 },
);

/** One session on one device: local writes, and a relay that adds and replaces under it. */
class Story {
  readonly disk = new Disk();
  readonly cache = new ViewCache();
  #ids = 0;
  #relay: { generation: number; ids: readonly string[] } = { generation: 0, ids: [] };

  async begin(): Promise<void> {
    await this.disk.change((tx, outcome) => integrateEntry(tx, entryOf(), outcome, this.disk.around));
  }

  async step([kind, size]: Step): Promise<void> {
    const added = Array.from({ length: size }, () => `m${++this.#ids}`);
    switch (kind) {
      case "append":
        return this.#write({ kind: "append", messages: added.map(messageOf), conflict: "rebase" });
      case "replace": {
        const kept = (await this.read(this.cache)).slice(0, size);
        return this.#write({ kind: "replace", messages: [...kept, ...added.map(messageOf)] });
      }
      case "restore": {
        const { row } = await this.disk.session();
        const { generation, count, lastId } = row.head;
        return this.#write({ kind: "restore", generation, count, lastId });
      }
      case "land":
        return this.#land(this.#relay.generation, this.#relay.ids.length, added);
      case "land replace":
        return this.#land(this.#relay.generation + 1, Math.min(size, this.#relay.ids.length), added);
      case "read":
        await this.read(this.cache);
    }
  }

  /** All messages of the view, through a cache. */
  async read(cache: ViewCache) {
    return this.disk.db.read(["sessions", "outbox", "runs"], async (tx) => {
      const found = await findSession(tx, "s");
      if (found === undefined) throw new Error("There is no session");
      return (await cache.read(tx, found)).messages;
    });
  }

  async #write(intent: Intent): Promise<void> {
    const opId = `op${++this.#ids}`;
    await this.disk.change((tx) =>
      enqueue(tx, "s", async (found) => draftOf(found, intent, {}, await this.cache.read(tx, found)), {
        opId,
        at: AT,
      }),
    );
  }

  async #land(generation: number, start: number, added: readonly string[]): Promise<void> {
    const ids = [...this.#relay.ids.slice(0, start), ...added];
    const have = (await this.disk.session()).row.head;
    this.#relay = { generation, ids };
    const page = pageOf(added, { generation, start, head: headOf(ids, generation) });
    await this.disk.change((tx, outcome) => integratePage(tx, page, have, outcome, this.disk.around));
  }
}

function messageOf(id: string) {
  return createMessage({ id, role: "user", content: `text of ${id}`, createdAt: AT });
}

describe("the view", () => {
  test("[H1, H11] what a warm cache tells is what the rows say, after whatever happened", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        const story = new Story();
        await story.begin();
        for (const step of drawn) {
          await story.step(step);
          const warm = await story.read(story.cache);
          const cold = await story.read(new ViewCache());
          expect(warm.map(serializeMessage)).toEqual(cold.map(serializeMessage));
          const { row } = await story.disk.session();
          expect(row.view.head.count).toBe(cold.length);
          expect(row.view.head.lastId).toBe(cold.at(-1)?.id ?? null);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("[H11, H12] the window is the end of the view, for every size, and says whether there is more", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 12 }), async (drawn, count) => {
        const story = new Story();
        await story.begin();
        for (const step of drawn) await story.step(step);
        const whole = await story.read(new ViewCache());
        const window = await story.disk.db.read(["sessions", "outbox", "runs", "rejected"], (tx) =>
          readWindow(tx, "s", count),
        );
        expect(window.entries.map(({ message }) => textOf(message))).toEqual(whole.slice(-count).map(textOf));
        expect(window.total).toBe(whole.length);
        expect(window.hasEarlier).toBe(whole.length > count);
        const firstPending = window.entries.findIndex(({ delivery }) => delivery === "pending");
        const rest = firstPending < 0 ? [] : window.entries.slice(firstPending);
        expect(rest.every(({ delivery }) => delivery === "pending")).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("[H11, M9] reads at one time share a cache and add nothing to it twice", async () => {
    const story = new Story();
    await story.begin();
    await story.step(["land", 3]);
    await story.read(story.cache);
    for (let round = 1; round <= 4; round++) {
      await story.step(["land", 2]);
      const reads = await Promise.all([1, 2, 3].map(() => story.read(story.cache)));
      const ids = (await story.read(new ViewCache())).map(({ id }) => id);
      for (const messages of reads) expect(messages.map(({ id }) => id)).toEqual(ids);
      const log = await story.disk.db.read(["sessions", "outbox", "runs"], async (tx) =>
        story.cache.read(tx, await story.disk.session()),
      );
      for (const id of ids) expect(log.has(id)).toBe(true);
      expect(log.has("never was")).toBe(false);
    }
  });

  test("[M9] an id that is in the view already, or twice in one write, is refused by its place; nothing is written", async () => {
    const story = new Story();
    await story.begin();
    await story.step(["land", 2]);
    await story.step(["append", 1]);
    const [confirmed, , pending] = await story.read(story.cache);
    if (confirmed === undefined || pending === undefined) throw new Error("three messages are needed");
    const before = await story.disk.session();
    const fresh = messageOf("fresh");
    for (const messages of [
      [fresh, confirmed],
      [fresh, pending],
      [fresh, fresh],
    ]) {
      const write = story.disk.change((tx) =>
        enqueue(
          tx,
          "s",
          async (found) =>
            draftOf(
              found,
              { kind: "append", messages, conflict: "rebase" },
              {},
              await story.cache.read(tx, found),
            ),
          { opId: "op", at: AT },
        ),
      );
      await expect(write).rejects.toMatchObject({ code: "invalid-input", path: "messages[1].id" });
      expect(await story.disk.session()).toEqual(before);
    }
  });
});
