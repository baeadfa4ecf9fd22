import { describe, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import { openClient } from "../../src/open-client.ts";
import { LIMIT_MS } from "../../src/store/dexie-options.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { ACTOR } from "../sim/device.ts";
import { fakeBrowser } from "../support/fake-browser.ts";
import { begin, say } from "./setting.ts";

const URL = "ws://relay";

async function setting() {
  const { world } = await begin(1);
  const browser = fakeBrowser();
  const tab = (indexedDB: IDBFactory | undefined = browser.indexedDB) => {
    const env = testEnvironment({ clock: world.clock, sockets: world.network.cable() });
    const parts = { indexedDB, IDBKeyRange: browser.IDBKeyRange };
    const surroundings = indexedDB === undefined ? { env } : { env, indexedDB: parts };
    return { env, open: () => openClient({ url: URL, actorId: ACTOR }, surroundings) };
  };
  return { world, browser, tab };
}

/** A factory whose `open` does this, and which is otherwise that one. */
function opening(factory: IDBFactory, open: () => IDBOpenDBRequest): IDBFactory {
  return new Proxy(factory, {
    get: (target, name) => {
      if (name === "open") return open;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const texts = async (client: Awaited<ReturnType<typeof openClient>>) =>
  (await client.session("talk").history()).map(textOf);

describe("a database that cannot be had", () => {
  test("[C52] where a page may store nothing the client works in memory, says so, and reaches the relay", async () => {
    const { world, browser, tab } = await setting();
    const barred = opening(browser.indexedDB, () => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    });
    const { env, open } = tab(barred);
    const client = await open();
    expect(client.status.storage).toBe("memory");
    expect(env.reporter.reports).toContainEqual(
      expect.objectContaining({ event: "client.memory", detail: { reason: "unavailable" } }),
    );
    await client.session("talk").append({ messages: [say("still heard")] });
    await world.clock.advance(2_000);
    expect(client.status).toMatchObject({ storage: "memory", link: "online", pending: 0 });
    const next = await world.during(tab(barred).open());
    expect(await world.during(texts(next))).toEqual(["still heard"]);
    await world.during(Promise.all([next.close(), client.close()]));
  });

  test("[C53] a database whose opening never settles: memory after a time limit, and the page was not held up", async () => {
    const { world, browser, tab } = await setting();
    const { env, open } = tab(opening(browser.indexedDB, () => ({}) as IDBOpenDBRequest));
    const opened = open();
    await world.clock.advance(LIMIT_MS.open);
    const client = await opened;
    expect(client.status.storage).toBe("memory");
    expect(env.reporter.reports).toContainEqual(
      expect.objectContaining({ event: "client.memory", detail: { reason: "timeout" } }),
    );
    await client.session("talk").append({ messages: [say("hello")] });
    expect(await texts(client)).toEqual(["hello"]);
    await client.close();
  });

  test("[C52, C53, H1] what was unsent in a database that cannot be opened for once is there at the next start", async () => {
    const { world, browser, tab } = await setting();
    world.network.dropAll();
    const first = await tab().open();
    await first.session("talk").append({ messages: [say("unsent")] });
    await first.close();
    const broken = opening(browser.indexedDB, () => {
      throw new DOMException("Internal error opening backing store for indexedDB.open.", "UnknownError");
    });
    const second = await tab(broken).open();
    expect(second.status.storage).toBe("memory");
    await second.close();
    const third = await tab().open();
    expect(third.status.storage).toBe("best-effort");
    expect(await texts(third)).toEqual(["unsent"]);
    await third.close();
  });
});
