import { describe, expect, test } from "vitest";
import { Client } from "../../src/client.ts";
import type { Persistence } from "../../src/env/persistence.ts";
import { StorageError } from "../../src/model/errors.ts";
import { openClient } from "../../src/open-client.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import type { StorageNews } from "../../src/sync/status.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestPage } from "../../src/testing/page.ts";
import { ACTOR } from "../sim/device.ts";
import { begin, say } from "./setting.ts";

function browser(answers: { before: boolean; asked: () => Promise<boolean> }) {
  let asked = 0;
  const persistence: Persistence = {
    persisted: async () => answers.before,
    persist: () => {
      asked += 1;
      return answers.asked();
    },
  };
  const page = new TestPage();
  return { env: testEnvironment({ persistence, page }), page, asked: () => asked };
}

const open = (env: ReturnType<typeof testEnvironment>) =>
  openClient(
    { url: "ws://relay", actorId: "anna" },
    { env, database: new MemoryDatabase<SyncRows>(SYNC_SCHEMA) },
  );

describe("what the status says of the storage", () => {
  test("[H12, C50] the browser is asked to keep the data once, after the first real write, and its word is told", async () => {
    for (const kept of [true, false]) {
      const { env, page, asked } = browser({ before: false, asked: async () => kept });
      const client = await open(env);
      await env.clock.advance(10_000);
      expect([client.status.storage, asked()]).toEqual(["best-effort", 0]);
      // Nor when the page is seen again, though anything may have changed.
      client.session("talk");
      for (const signal of ["hidden", "visible"] as const) page.signal(signal);
      await env.clock.advance(10_000);
      expect(asked()).toBe(0);
      for (let n = 0; n < 3; n++) await client.session("talk").append({ messages: [say(`${n}`)] });
      await env.clock.advance(0);
      expect([client.status.storage, asked()]).toEqual([kept ? "persisted" : "best-effort", 1]);
      await client.close();
    }
  });

  test("[H12, C50] it is asked once a database: not again by another tab, nor at the next start; every tab tells the answer", async () => {
    const disk = new MemoryDisk();
    let [asked, granted] = [0, false];
    const persistence: Persistence = {
      persisted: async () => granted,
      persist: async () => {
        asked += 1;
        granted = true;
        return true;
      },
    };
    const env = testEnvironment({ persistence });
    const tab = () =>
      openClient(
        { url: "ws://relay", actorId: "anna" },
        { env, database: new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }) },
      );
    const [one, two] = [await tab(), await tab()];
    for (const client of [one, two, one, two])
      await client.session("talk").append({ messages: [say("hello")] });
    await env.clock.advance(0);
    expect([asked, one.status.storage, two.status.storage]).toEqual([1, "persisted", "persisted"]);
    await Promise.all([one.close(), two.close()]);
    // The user took it back meanwhile: that is told, and not asked for again.
    granted = false;
    const next = await tab();
    await next.session("talk").append({ messages: [say("again")] });
    await env.clock.advance(0);
    expect([asked, next.status.storage]).toEqual([1, "best-effort"]);
    await next.close();
  });

  test("[H12] what was promised before is told at the opening; a browser that answers with an error promised nothing", async () => {
    const promised = browser({ before: true, asked: async () => true });
    const client = await open(promised.env);
    await promised.env.clock.advance(0);
    expect(client.status.storage).toBe("persisted");
    await client.close();
    const failing = browser({ before: false, asked: () => Promise.reject(new Error("not now")) });
    const other = await open(failing.env);
    await other.session("talk").append({ messages: [say("hello")] });
    await failing.env.clock.advance(0);
    expect(other.status.storage).toBe("best-effort");
    await other.close();
  });

  test.each(["reset", "upgrade-required"] as const)(
    "[C7, C12, H12] a database that ends by %s is told, and nothing goes out of this tab any more",
    async (reason) => {
      const { world } = await begin(1);
      let tell = (_: StorageNews): void => {};
      const env = testEnvironment({ clock: world.clock, sockets: world.network.cable() });
      const client = new Client({
        url: "ws://relay",
        actorId: ACTOR,
        name: "ended",
        env,
        db: new MemoryDatabase<SyncRows>(SYNC_SCHEMA),
        storage: "best-effort",
        watchStorage: (listener) => {
          tell = listener;
        },
      });
      await client.begin();
      await world.clock.advance(500);
      expect(client.status.link).toBe("online");
      tell({
        storage: reason,
        lastError: new StorageError("The database was deleted", { reason }),
        link: "offline",
      });
      await world.clock.advance(30_000);
      expect(client.status).toMatchObject({
        storage: reason,
        link: "offline",
        leader: false,
        lastError: { reason },
      });
      await client.close();
    },
  );
});
