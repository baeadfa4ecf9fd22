import { describe, expect, test } from "vitest";
import { createMessage, type Message, serializeMessage } from "../../src/model/message.ts";
import type { LocalDatabase } from "../../src/store/database.ts";
import { DexieDatabase } from "../../src/store/dexie-database.ts";
import { DexieStore } from "../../src/store/dexie-store.ts";
import { LOCAL_SCHEMA, type LocalRows, type LocalSessionRow } from "../../src/store/local-rows.ts";
import { LocalSessionStore } from "../../src/store/local-session-store.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import type { RunRow } from "../../src/store/sync-rows.ts";
import { fakeBrowser } from "../support/fake-browser.ts";

const say = (text: string): Message => createMessage({ role: "user", content: text });
const many = (n: number): Message[] => Array.from({ length: n }, (_, at) => say(`${at}`));
const START = { expectedCount: 0, expectedGeneration: 0 };

/** A store, the rows below it, and the same again as after a reload. */
interface Opened {
  readonly store: LocalSessionStore;
  readonly db: LocalDatabase<LocalRows>;
  readonly reopen: () => Opened;
}
function openMemory(disk = new MemoryDisk()): Opened {
  const db = new MemoryDatabase<LocalRows>(LOCAL_SCHEMA, { disk });
  return { store: new LocalSessionStore(db), db, reopen: () => openMemory(disk) };
}
function openDexie(browser = fakeBrowser()): Opened {
  const db = new DexieDatabase<LocalRows>(LOCAL_SCHEMA, { name: "sessions", ...browser });
  return { store: new LocalSessionStore(db), db, reopen: () => openDexie(browser) };
}

describe.each([
  ["memory", openMemory],
  ["IndexedDB", openDexie],
])("A session store in %s", (_, open) => {
  const write = async (opened: Opened, messages: Message[], rest: object = {}): Promise<void> => {
    const state = { kept: true };
    await opened.store.append("s", { messages, state, metadata: {}, ...START, ...rest });
  };

  test("[H1] what was written is there after a reload, in one piece", async () => {
    const opened = open();
    const messages = many(230);
    await write(opened, messages, { actorId: "ann", metadata: { title: "t" } });
    const again = opened.reopen().store;
    const loaded = await again.load("s", { actorId: "ann" });
    expect(loaded?.messages.map(serializeMessage)).toEqual(messages.map(serializeMessage));
    expect(loaded).toMatchObject({ state: { kept: true }, metadata: { title: "t" } });
    await expect(again.load("s", { actorId: "bob" })).rejects.toMatchObject({ code: "actor-mismatch" });
  });

  test("[T3] an id claimed by loading it stays claimed after a reload, and is no session", async () => {
    const opened = open();
    expect(await opened.store.load("s", { actorId: "ann" })).toBeUndefined();
    const again = opened.reopen().store;
    await expect(again.load("s", {})).rejects.toMatchObject({ code: "actor-mismatch" });
    await expect(again.load("s", { actorId: "bob" })).rejects.toMatchObject({ code: "actor-mismatch" });
    expect(await again.load("s", { actorId: "ann" })).toBeUndefined();
    expect(await again.generationMessages("s", 0, { actorId: "ann" })).toBeUndefined();
  });

  test("[T1] two tabs with the same expectation: one is accepted, and both see the same log", async () => {
    const one = open();
    const two = one.reopen();
    await write(one, many(1));
    const results = await Promise.allSettled(
      [one, two].map(({ store }) =>
        store.append("s", { messages: [say("next")], state: {}, metadata: {}, expectedCount: 1 }),
      ),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const logs = await Promise.all([one, two].map(({ store }) => store.load("s", {})));
    expect(logs[0]?.messages.map(({ id }) => id)).toEqual(logs[1]?.messages.map(({ id }) => id));
    expect(logs[0]?.revision).toEqual({ generation: 0, count: 2 });
  });

  test("[H5] replaced generations stay readable, also after a reload", async () => {
    const opened = open();
    const [a, b, c] = [many(120), many(3), many(1)];
    await write(opened, a);
    await opened.store.replace("s", { messages: b, state: {}, metadata: {} });
    await opened.store.replace("s", { messages: c, state: {}, metadata: {} });
    const { store } = opened.reopen();
    for (const [generation, messages] of [a, b, c].entries()) {
      const read = await store.generationMessages("s", generation, {});
      expect(read?.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    }
    expect(await store.generationMessages("s", 3, {})).toBeUndefined();
    expect(await store.generationMessages("other", 0, {})).toBeUndefined();
    await expect(store.generationMessages("s", 0, { actorId: "ann" })).rejects.toMatchObject({
      code: "actor-mismatch",
    });
  });

  test("[S15] the operation is noted with the writes called before the first await, and with no other", async () => {
    const opened = open();
    const { store, db } = opened;
    const append = (id: string): Promise<unknown> =>
      store.append(id, { messages: [], state: {}, metadata: {}, ...START });
    await store.withOperationContext("op-1", async () => {
      const first = append("within");
      await first;
      await append("later");
    });
    await store.withOperationContext("op-2", () =>
      store.replace("within", { messages: [], state: {}, metadata: {} }),
    );
    const rows = await db.read(["sessions"], (tx) => tx.list("sessions"));
    expect(rows.map(({ id, operationId }) => [id, operationId])).toEqual([
      ["later", undefined],
      ["within", "op-2"],
    ]);
    const archived = await db.read(["archived"], (tx) => tx.list("archived"));
    expect(archived).toMatchObject([{ session: "within", generation: 0, count: 0, operationId: "op-2" }]);
    const bad = store.withOperationContext(7 as never, async () => 1);
    await expect(bad).rejects.toMatchObject({ code: "invalid-input", path: "operationId" });
  });

  test("[T7] a corrupt message is reported at its place; the others load and the count stays", async () => {
    const opened = open();
    await write(opened, many(150));
    const row = (await opened.db.read(["runs"], (tx) => tx.get("runs", ["s", 0, 100]))) as RunRow;
    const messages: unknown[] = [...row.messages];
    messages[7] = { ...(messages[7] as object), role: "nobody" };
    messages[8] = "torn";
    await opened.db.write(["runs"], (tx) => tx.put("runs", { ...row, messages } as RunRow));
    const { store, db } = opened.reopen();
    const loaded = await store.load("s", {});
    expect(loaded?.revision).toEqual({ generation: 0, count: 150 });
    expect(loaded?.messages).toHaveLength(150);
    expect(loaded?.damaged?.map(({ index }) => index)).toEqual([107, 108]);
    expect(loaded?.damaged?.[0]?.reason).toContain("role");
    expect(loaded?.messages[109]?.content).toMatchObject([{ text: "109" }]);
    const more = await store.append("s", {
      messages: many(120),
      state: {},
      metadata: {},
      expectedCount: 150,
      expectedGeneration: 0,
    });
    expect(more.messages).toHaveLength(270);
    expect(more.damaged?.map(({ index }) => index)).toEqual([107, 108]);
    const kept = await db.read(["runs"], (tx) => tx.get("runs", ["s", 0, 100]));
    expect(kept?.messages[8]).toBe("torn");
  });

  test("[T7] a lost row leaves a gap that is reported, and nothing else moves", async () => {
    const opened = open();
    await write(opened, many(250));
    await opened.db.write(["runs"], (tx) => tx.delete("runs", ["s", 0, 100]));
    const loaded = await opened.reopen().store.load("s", {});
    expect(loaded?.revision.count).toBe(250);
    expect(loaded?.damaged).toHaveLength(100);
    expect(loaded?.messages[200]?.content).toMatchObject([{ text: "200" }]);
    expect(loaded?.messages[150]?.content).toEqual([]);
  });

  test("[T7] a session's row that is half-written is made up from the log, reported, and set aside on a write", async () => {
    const opened = open();
    await write(opened, many(130), { actorId: "ann" });
    const torn = { id: "s", actorId: "ann", generation: 0, state: "garbage", metadata: { title: "t" } };
    await opened.db.write(["sessions"], (tx) => tx.put("sessions", torn as unknown as LocalSessionRow));
    const { store, db } = opened.reopen();
    const loaded = await store.load("s", { actorId: "ann" });
    expect(loaded?.revision).toEqual({ generation: 0, count: 130 });
    expect(loaded?.messages[129]?.content).toMatchObject([{ text: "129" }]);
    expect(loaded).toMatchObject({ state: {}, metadata: { title: "t" } });
    expect(loaded?.damaged?.map(({ index }) => index)).toEqual([-1, -1]);
    await expect(store.load("s", { actorId: "bob" })).rejects.toMatchObject({ code: "actor-mismatch" });
    await store.append("s", {
      ...(loaded ?? START),
      ...START,
      expectedCount: 130,
      messages: [],
      actorId: "ann",
    } as never);
    expect(await db.read(["aside"], (tx) => tx.list("aside"))).toMatchObject([
      { session: "s", n: 1, row: torn },
    ]);
    expect((await store.load("s", { actorId: "ann" }))?.damaged).toBeUndefined();
  });

  test("[T7] messages whose session's row is lost are handed to nobody and overwritten by nothing", async () => {
    const opened = open();
    await write(opened, many(30), { actorId: "ann" });
    await opened.db.write(["sessions"], (tx) => tx.delete("sessions", ["s"]));
    const { store, db } = opened.reopen();
    const corrupt = { code: "storage", reason: "corrupt" };
    await expect(store.load("s", { actorId: "ann" })).rejects.toMatchObject(corrupt);
    await expect(
      store.append("s", { messages: [say("x")], state: {}, metadata: {}, ...START }),
    ).rejects.toMatchObject(corrupt);
    await expect(store.replace("s", { messages: [], state: {}, metadata: {} })).rejects.toMatchObject(
      corrupt,
    );
    expect(await db.read(["runs"], (tx) => tx.list("runs"))).toHaveLength(1);
  });

  test("[T5] a write whose commit fails leaves the earlier snapshot, and the next one is right again", async () => {
    const opened = open();
    const first = many(3);
    await write(opened, first);
    const failing = new Proxy(opened.db, {
      get: (target, name) =>
        name === "write"
          ? (tables: never, work: (tx: unknown) => Promise<unknown>) =>
              target.write(tables, async (tx) => {
                await work(tx);
                throw new Error("the disk failed");
              })
          : (target[name as "read"] as () => unknown).bind(target),
    });
    const store = new LocalSessionStore(failing);
    await store.load("s", {});
    const late = { messages: many(2), state: { late: 1 }, metadata: {}, expectedCount: 3 };
    await expect(store.append("s", late)).rejects.toThrow("the disk failed");
    await expect(store.replace("s", late)).rejects.toThrow("the disk failed");
    const after = await store.load("s", {});
    expect(after?.messages.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(after).toMatchObject({ state: { kept: true }, revision: { generation: 0, count: 3 } });
  });

  test("[H11] handing out a long log again makes no new messages", async () => {
    const opened = open();
    await write(opened, many(300));
    const { store } = opened.reopen();
    const first = await store.load("s", {});
    const second = await store.append("s", {
      messages: [say("x")],
      state: {},
      metadata: {},
      expectedCount: 300,
    });
    expect(second.messages.slice(0, 300).every((message, at) => message === first?.messages[at])).toBe(true);
    expect((await store.load("s", {}))?.messages).toBe(second.messages);
  });
});

describe("DexieStore", () => {
  test("[S13] work in two tabs on one session runs one at a time", async () => {
    const browser = fakeBrowser();
    const tabs = [0, 1].map(() => new DexieStore({ name: "x", ...browser }));
    const trail: string[] = [];
    await Promise.all(
      tabs.map((store, tab) =>
        store.synchronize("s", {}, async () => {
          trail.push(`${tab} begins`);
          await store.load("s", {});
          trail.push(`${tab} ends`);
        }),
      ),
    );
    expect(trail).toEqual(["0 begins", "0 ends", "1 begins", "1 ends"]);
  });

  test("[H10] a closed store refuses with a storage error that says so, and what was asked before is kept", async () => {
    const browser = fakeBrowser();
    const store = new DexieStore({ name: "x", ...browser });
    const written = store.append("s", { messages: [say("a")], state: {}, metadata: {}, ...START });
    await store.close();
    await written;
    await expect(store.load("s", {})).rejects.toMatchObject({ code: "storage", reason: "closed" });
    expect((await new DexieStore({ name: "x", ...browser }).load("s", {}))?.messages).toHaveLength(1);
  });

  test("[H10] without IndexedDB every call says that storage is unavailable", async () => {
    const store = new DexieStore({ name: "x" });
    await expect(store.load("s", {})).rejects.toMatchObject({ code: "storage", reason: "unavailable" });
  });
});
