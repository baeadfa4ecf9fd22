import { describe, expect, test } from "vitest";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { begin, openTab, replaceRelay, rowsOf, say, textsIn, watchFrames } from "./setting.ts";

/** A storage whose methods go to the one named last: the operator puts back a backup under the same address. */
function switched(first: RelayStorage): { storage: RelayStorage; to: (next: RelayStorage) => void } {
  let present = first;
  const storage = new Proxy({} as RelayStorage, {
    get: (_, name) => {
      const value: unknown = Reflect.get(present, name);
      return typeof value === "function" ? value.bind(present) : value;
    },
  });
  return {
    storage,
    to: (next) => {
      present = next;
    },
  };
}

/** The same storage under another name, as a copy of its files would have it. */
function renamed(storage: RelayStorage, storeId: string): RelayStorage {
  return new Proxy({} as RelayStorage, {
    get: (_, name) => {
      if (name === "open")
        return async (host: Parameters<RelayStorage["open"]>[0]) => {
          await storage.open(host);
          return { storeId };
        };
      const value: unknown = Reflect.get(storage, name);
      return typeof value === "function" ? value.bind(storage) : value;
    },
  });
}

/** Keeps what was applied, so that a backup can be made of any moment. */
function recorded(): { storage: RelayStorage; backup: () => Promise<RelayStorage> } {
  const storage = memoryStorage();
  const calls: {
    readonly write: Parameters<RelayStorage["apply"]>[0];
    readonly incarnation: string | null;
  }[] = [];
  let host: Parameters<RelayStorage["open"]>[0] | undefined;
  let storeId = "";
  return {
    storage: new Proxy({} as RelayStorage, {
      get: (_, name) => {
        if (name === "open")
          return async (given: Parameters<RelayStorage["open"]>[0]) => {
            host = given;
            const opened = await storage.open(given);
            storeId = opened.storeId;
            return opened;
          };
        if (name === "apply")
          return async (write: Parameters<RelayStorage["apply"]>[0]) => {
            const answer = await storage.apply(write);
            if (answer.ok) calls.push({ write, incarnation: answer.incarnation });
            return answer;
          };
        const value: unknown = Reflect.get(storage, name);
        return typeof value === "function" ? value.bind(storage) : value;
      },
    }),
    backup: async () => {
      const copy = memoryStorage();
      const ids = calls.flatMap(({ incarnation }) => (incarnation === null ? [] : [incarnation]));
      const names = [storeId, ...new Set(ids)];
      if (host === undefined) throw new Error("nothing was opened");
      await copy.open({ ...host, newId: () => names.shift() ?? "no more names" });
      for (const { write } of calls) await copy.apply(write);
      return copy;
    },
  };
}

describe("the relay's storage changes under the clients", () => {
  test("[P7] another storeId: the catalog is read from 0, every session is pulled again, nothing is deleted", async () => {
    const { world, a } = await begin(1);
    for (let n = 0; n < 3; n++)
      await world.during(a.session.append({ messages: [say(`m${n}`)] }, { until: "confirmed" }));
    const other = a.client.session("other");
    await world.during(other.append({ messages: [say("o")], state: { n: 1 } }, { until: "confirmed" }));
    await world.settle();
    const { frames } = watchFrames(a.cable);
    await replaceRelay(world, { storage: renamed(world.storage, "copy") });
    await world.clock.advance(5_000);
    const up = frames.filter(({ direction }) => direction === "up");
    expect(up.find(({ type }) => type === "catalog")).toMatchObject({ cursor: 0 });
    expect(new Set(up.filter(({ type }) => type === "pull").map(({ session }) => session))).toEqual(
      new Set(["talk", "other"]),
    );
    expect(await world.during(textsIn(a.session))).toEqual(["m0", "m1", "m2"]);
    expect(await world.during(textsIn(other))).toEqual(["o"]);
    expect(await world.during(other.state())).toEqual({ n: 1 });
    expect(a.client.status).toMatchObject({ pending: 0, rejected: 0 });
    await world.during(world.close());
  });

  test("[P7, H2] an empty relay in the place of the one before: nothing here is deleted, what is written is not lost", async () => {
    const { world, a } = await begin(1);
    await world.during(a.session.append({ messages: [say("kept")] }, { until: "confirmed" }));
    await world.settle();
    await replaceRelay(world, { storage: memoryStorage() });
    await world.clock.advance(5_000);
    expect(await world.during(textsIn(a.session))).toEqual(["kept"]);
    expect((await a.client.sessions.list()).entries.map(({ id }) => id)).toEqual(["talk"]);
    await world.during(a.session.append({ messages: [say("after")] }));
    await world.clock.advance(60_000);
    const rows = await rowsOf(a.database);
    expect(JSON.stringify(rows)).toContain("kept");
    expect(JSON.stringify(rows)).toContain("after");
    await world.during(world.close());
  });

  for (const sameStore of [true, false]) {
    test(`[P33, H2] the relay restored from an older backup (${sameStore ? "same" : "another"} storeId) is offered what it lost, with the ids it had`, async () => {
      const { storage: recording, backup } = recorded();
      const { storage, to } = switched(recording);
      const { world, a, b } = await begin(2, storage);
      await world.during(
        a.session.append({ messages: [say("1"), say("2")], state: { n: 1 } }, { until: "confirmed" }),
      );
      await world.settle();
      const older = await backup();
      await world.during(
        a.session.append({ messages: [say("3"), say("4")], state: { n: 2 } }, { until: "confirmed" }),
      );
      await world.during(b.session.append({ messages: [say("5")] }, { until: "confirmed" }));
      await world.during(a.client.sessions.rename("talk", "Later"));
      await world.settle();
      const before = await world.during(a.session.load());
      to(sameStore ? older : renamed(older, "restored"));
      await world.during(world.restartRelay());
      await world.settle();
      const ids = before?.messages.map(({ id }) => id);
      for (const device of [a, b]) {
        expect((await world.during(device.session.history())).map(({ id }) => id)).toEqual(ids);
        expect(device.client.status).toMatchObject({ pending: 0, rejected: 0 });
      }
      expect((await world.generations()).at(-1)?.messages.map(({ id }) => id)).toEqual(ids);
      // What is written afterwards reaches everybody: no cursor stands further than the relay.
      await world.during(b.session.append({ messages: [say("6")], state: { n: 3 } }, { until: "confirmed" }));
      await world.during(a.session.updateState((draft) => Object.assign(draft, { m: 1 })));
      await world.settle();
      for (const { session } of [a, b]) {
        expect(await world.during(textsIn(session))).toEqual(["1", "2", "3", "4", "5", "6"]);
        expect(await world.during(session.state())).toEqual({ n: 3, m: 1 });
      }
      await world.during(world.close());
    });
  }

  test("[P33, H2] others wrote after the backup was put back: both what was lost and what is new stand, once", async () => {
    const { storage: recording, backup } = recorded();
    const { storage, to } = switched(recording);
    const { world, a, b } = await begin(2, storage);
    await world.during(a.session.append({ messages: [say("1")] }, { until: "confirmed" }));
    await world.settle();
    const older = await backup();
    b.cable.cut();
    await world.during(a.session.append({ messages: [say("2"), say("3")] }, { until: "confirmed" }));
    a.cable.cut();
    await world.clock.advance(1_000);
    to(older);
    await world.during(world.restartRelay());
    b.cable.heal();
    b.page.signal("online");
    for (const text of ["x", "y", "z"])
      await world.during(b.session.append({ messages: [say(text)] }, { until: "confirmed" }));
    await world.settle();
    for (const { session, client } of [a, b]) {
      expect(await world.during(textsIn(session))).toEqual(["1", "x", "y", "z", "2", "3"]);
      expect(client.status).toMatchObject({ pending: 0, rejected: 0 });
    }
    await world.during(world.close());
  });

  test("[P33, H5] a backup from before a replace: every generation it lost is offered again, none is dropped", async () => {
    const { storage: recording, backup } = recorded();
    const { storage, to } = switched(recording);
    const { world, a } = await begin(1, storage);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }, { until: "confirmed" }));
    await world.settle();
    const older = await backup();
    await world.during(a.session.append({ messages: [say("3")] }, { until: "confirmed" }));
    await world.during(a.session.replace({ messages: [say("other")] }));
    await world.during(a.client.flush());
    await world.during(a.session.append({ messages: [say("after")] }, { until: "confirmed" }));
    a.cable.cut();
    await world.during(a.session.append({ messages: [say("pending")] }));
    to(older);
    await world.during(world.restartRelay());
    await world.settle();
    const logs = (await world.generations()).map(({ messages }) => messages.map(({ text }) => text));
    expect(logs).toEqual([
      ["1", "2"],
      ["1", "2", "3"],
      ["other", "after", "pending"],
    ]);
    expect(await world.during(textsIn(a.session))).toEqual(["other", "after", "pending"]);
    expect(a.client.status).toMatchObject({ pending: 0, rejected: 0 });
    await world.during(world.close());
  });

  test("[P7, H2] another storage where somebody else made the same session anew: what is held here joins it", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }, { until: "confirmed" }));
    await world.settle();
    a.cable.cut();
    await world.during(a.session.append({ messages: [say("3")] }));
    b.cable.cut();
    await world.clock.advance(100);
    const storage = memoryStorage();
    await replaceRelay(world, { storage });
    const fresh = await openTab(world);
    await world.during(fresh.session.append({ messages: [say("x")] }, { until: "confirmed" }));
    for (const { cable, page } of [a, b]) {
      cable.heal();
      page.signal("online");
    }
    await world.clock.advance(60_000);
    const texts = await world.during(textsIn(fresh.session));
    expect(texts).toEqual(["x", "1", "2", "3"]);
    for (const { session, client } of [a, b]) {
      expect(await world.during(textsIn(session))).toEqual(texts);
      expect(client.status).toMatchObject({ pending: 0, rejected: 0 });
    }
    await world.during(Promise.all([fresh.client.close(), world.close()]));
  });

  test("[P30, P35] a state larger than a page comes over several pages, each once", async () => {
    const { world, a } = await begin(1);
    const relay = await replaceRelay(world, { limits: { maxFrameBytes: 4_000, pageMessages: 3 } });
    await world.clock.advance(1_000);
    await world.during(a.session.append({ messages: Array.from({ length: 7 }, (_, n) => say(`${n}`)) }));
    const state: Record<string, string> = {};
    for (let n = 0; n < 12; n++) {
      state[`k${n}`] = "v".repeat(400);
      await world.during(a.session.append({ messages: [], state: { ...state } }));
    }
    await world.during(a.client.flush());
    const fresh = await openTab(world);
    const { frames } = watchFrames(fresh.cable);
    await world.clock.advance(5_000);
    expect(await world.during(fresh.session.state())).toEqual(state);
    expect(await world.during(textsIn(fresh.session))).toHaveLength(7);
    const pages = frames.filter(({ type }) => type === "page");
    expect(pages.length).toBeGreaterThan(3);
    expect(pages.length).toBeLessThan(20);
    await world.during(Promise.all([fresh.client.close(), world.close()]));
    await relay.close();
  });
});
