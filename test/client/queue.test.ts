import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { begin, openTab, rowsOf, say, textsIn, watchFrames } from "./setting.ts";

describe("the queue of one client", () => {
  test("[C9, H1] the row is on disk once append has resolved, whatever becomes of the tab", async () => {
    const { world, a } = await begin(1);
    a.cable.cut();
    for (let n = 0; n < 5; n++) {
      const message = say(`m${n}`);
      await a.session.append({ messages: [message] });
      a.database.kill();
      await world.during(a.reload());
      const ids = (await a.session.history()).map(({ id }) => id);
      expect(ids.at(-1)).toBe(message.id);
      expect(ids).toHaveLength(n + 1);
    }
    await world.during(world.close());
  });

  test("[C9, C25] a tab killed with three queued messages: three return, same ids, same order, and are sent", async () => {
    for (const inFlight of [false, true]) {
      const { world, a, b } = await begin(2);
      if (inFlight) a.cable.swallow();
      else a.cable.cut();
      const messages = [say("1"), say("2"), say("3")];
      for (const message of messages) await world.during(a.session.append({ messages: [message] }));
      await world.clock.advance(200);
      const before = await rowsOf(a.database);
      a.cable.cut();
      await world.during(a.reload());
      expect((await rowsOf(a.database)).outbox).toEqual(before.outbox);
      expect(a.client.status.pending).toBe(3);
      await world.settle();
      for (const { session } of [a, b])
        expect((await world.during(session.history())).map(({ id }) => id)).toEqual(
          messages.map(({ id }) => id),
        );
      await world.during(world.close());
    }
  });

  test("[C21] the first of three queued messages fails for a while: the order is still 1, 2, 3", async () => {
    const storage = memoryStorage();
    let failing = 0;
    const { world, a } = await begin(1, {
      ...bound(storage),
      apply: (write) => {
        if (write.kind === "append" && failing > 0) {
          failing -= 1;
          return Promise.resolve({ ok: false, code: "try-again", message: "Not now" });
        }
        return storage.apply(write);
      },
    });
    for (const fails of [1, 2, 3, 5]) {
      failing = fails;
      const texts = ["1", "2", "3"].map((text) => `${text} of ${fails}`);
      for (const text of texts) await world.during(a.session.append({ messages: [say(text)] }));
      await world.clock.advance(60_000);
      expect((await textsIn(a.session)).slice(-3)).toEqual(texts);
      expect(a.client.status.pending).toBe(0);
      const last = (await world.generations()).at(-1);
      expect(last?.messages.slice(-3).map(({ text }) => text)).toEqual(texts);
    }
    await world.during(world.close());
  });

  test("[C22, C23] messages never swap, never go back and are visible at every change on their way", async () => {
    const { world, a, b } = await begin(2);
    a.cable.delayMs = [20, 300];
    const rank = { pending: 0, confirmed: 1, rejected: 1 };
    const delivered = new Map<string, number>();
    const seen: string[] = [];
    let expected: string[] = [];
    const look = (): void => {
      const { entries } = a.session.messages;
      const ids = entries.map(({ message }) => message.id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of seen) expect(ids).toContain(id);
      for (const { message, delivery } of entries) {
        expect(rank[delivery]).toBeGreaterThanOrEqual(delivered.get(message.id) ?? 0);
        delivered.set(message.id, rank[delivery]);
        if (!seen.includes(message.id)) seen.push(message.id);
      }
      const own = ids.filter((id) => expected.includes(id));
      expect(own).toEqual(expected.slice(0, own.length));
    };
    a.session.messages.subscribe(look);
    const messages = ["1", "2", "3", "4", "5"].map(say);
    expected = messages.map(({ id }) => id);
    for (const message of messages) await world.during(a.session.append({ messages: [message] }));
    expect(a.session.messages.entries.map(({ delivery }) => delivery)).toEqual(Array(5).fill("pending"));
    await world.during(b.session.append({ messages: [say("foreign")] }));
    for (let passed = 0; passed < 5_000; passed += 10) {
      await world.clock.advance(10);
      look();
      const rows = await rowsOf(a.database);
      const pending = rows.outbox?.length ?? 0;
      if (pending === 5) expect(a.session.messages.entries.length).toBeGreaterThanOrEqual(5);
    }
    await world.settle();
    expect(a.session.messages.entries.map(({ delivery }) => delivery)).toEqual(Array(6).fill("confirmed"));
    expect([...delivered.keys()]).toHaveLength(6);
    await world.during(world.close());
  });

  test("[C23] an acknowledged message is visible at every commit between the outbox and the log", async () => {
    const { world, a } = await begin(1);
    const message = say("here");
    const looks: Promise<boolean>[] = [];
    a.cable.delayMs = 100;
    await world.during(a.session.append({ messages: [message] }));
    const stop = a.database.watch(() => {
      looks.push(
        a.session.load().then((snapshot) => snapshot?.messages.some(({ id }) => id === message.id) === true),
      );
    });
    await world.settle();
    stop();
    expect(looks.length).toBeGreaterThan(0);
    expect(await Promise.all(looks)).not.toContain(false);
    await world.during(world.close());
  });

  test("[C29] one failed send and no further write: sent again within the backoff, however often it fails", async () => {
    const { world, a } = await begin(1);
    a.cable.swallow();
    await world.during(a.session.append({ messages: [say("once")] }));
    a.cable.cut();
    await world.clock.advance(3 * 3_600_000);
    a.cable.heal();
    await world.clock.advance(31_000);
    await world.clock.advance(1_000);
    expect(a.client.status).toMatchObject({ pending: 0, link: "online" });
    await world.during(world.close());
  });

  test("[C61, H3, P20] three pipelined, one foreign lands first: the order is foreign, 1, 2, 3", async () => {
    for (const held of [0, 5]) {
      const { world, a, b } = await begin(2);
      if (held > 0) {
        const messages = Array.from({ length: held }, (_, n) => say(`held ${n}`));
        await world.during(a.session.append({ messages }, { until: "confirmed" }));
      }
      await world.clock.advance(1_000);
      const { frames } = watchFrames(a.cable);
      a.cable.delayMs = 500;
      for (const text of ["1", "2", "3"]) await a.session.append({ messages: [say(text)] });
      await world.during(b.session.append({ messages: [say("foreign")] }, { until: "confirmed" }));
      await world.clock.advance(5_000);
      const refused = frames.filter(({ type }) => type === "refusal");
      expect(refused.map(({ code }) => code)).toEqual(["conflict", "conflict", "conflict"]);
      for (const { session } of [a, b])
        expect((await world.during(textsIn(session))).slice(-4)).toEqual(["foreign", "1", "2", "3"]);
      const sent = frames.filter(({ type, direction }) => type === "append" && direction === "up");
      expect(new Set(sent.map(({ opId }) => opId)).size).toBe(3);
      await world.during(world.close());
    }
  });

  test("[C17] the same outbox sent by two tabs at once, without locks: one effect, no red mark", async () => {
    const { world } = await begin(1);
    const profile = new TestTabs(world.clock);
    const disk = new MemoryDisk();
    const one = await openTab(world, { disk, tabs: profile.open({ locks: false }) });
    const two = await openTab(world, { disk, tabs: profile.open({ locks: false }) });
    await world.clock.advance(1_000);
    expect([one.client.status.link, two.client.status.link]).toEqual(["online", "online"]);
    one.cable.delayMs = 100;
    two.cable.delayMs = 130;
    const kinds = [
      () => one.session.append({ messages: [say("1")] }),
      () => two.session.append({ messages: [say("2")], state: { n: 2 } }),
      async () => one.session.checkpoint({ messages: [...(await one.session.history()), say("3")] }),
      () => two.session.replace({ messages: [say("4")] }),
      () => one.client.sessions.rename("talk", "T"),
      () => one.session.append({ messages: [say("5")] }, { onConflict: "reject" }),
    ];
    for (const work of kinds) {
      await world.during(work());
      await world.clock.advance(2_000);
    }
    for (const { client, session } of [one, two]) {
      expect(client.status).toMatchObject({ pending: 0, rejected: 0 });
      expect(await textsIn(session)).toEqual(["4", "5"]);
    }
    const generations = await world.generations();
    expect(generations.map(({ messages }) => messages.map(({ text }) => text))).toEqual([
      ["1", "2", "3"],
      ["4", "5"],
    ]);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });
});

/** A storage's methods as an object whose single ones can be replaced. */
function bound<T extends object>(thing: T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const value: unknown = Reflect.get(thing, name);
      return typeof value === "function" ? value.bind(thing) : value;
    },
    ownKeys: () => methodsOf(thing),
    getOwnPropertyDescriptor: (_, name) => {
      const value: unknown = Reflect.get(thing, name);
      return {
        configurable: true,
        enumerable: true,
        value: typeof value === "function" ? value.bind(thing) : value,
      };
    },
  });
}

function methodsOf(thing: object): string[] {
  const names = [
    ...Object.getOwnPropertyNames(thing),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(thing)),
  ];
  return [...new Set(names)].filter((name) => name !== "constructor");
}
