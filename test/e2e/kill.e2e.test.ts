import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../src/client.ts";
import { textOf } from "../../src/model/message.ts";
import { DeskTab, soon, untilReady } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";
import { enginesHere, Profile } from "../support/engines.ts";

let setting: EngineSetting;
beforeAll(async () => {
  setting = await openEngineSetting();
});
afterAll(() => setting?.close());

describe.each(enginesHere())("in $name", (engine) => {
  const actorId = `anna-${engine.name}`;
  const place = () => ({ site: setting.site.url, url: setting.cable.url, actorId });
  let profile: Profile;
  let desk: DeskTab;
  /** Another machine of hers: it reads what reached the relay. */
  let phone: Client;

  beforeAll(async () => {
    setting.cable.cut();
    profile = new Profile(engine);
    [desk, phone] = await Promise.all([DeskTab.open(profile, place()), setting.openPhone(actorId)]);
  });
  afterAll(() => profile?.dispose());
  beforeEach(() => setting.cable.cut());

  /** After the end of a page: a new one shows the same three, pending, with their ids; healed, they are sent in that order. */
  async function threeReturn(session: string, ids: readonly string[]): Promise<void> {
    const texts = ["first", "second", "third"];
    await expect
      .poll(() => desk.seen(session), soon)
      .toEqual(texts.map((text, at) => ({ id: ids[at], text, delivery: "pending" })));
    setting.cable.heal();
    await desk.reconnect();
    await desk.flush();
    await expect
      .poll(async () => (await phone.session(session).history()).map(({ id }) => id), soon)
      .toEqual(ids);
    expect((await phone.session(session).history()).map(textOf)).toEqual(texts);
    expect((await desk.status()).rejected).toBe(0);
  }

  test("[C9, H1] at pagehide right after append resolved, the row is in IndexedDB", async () => {
    const id = await desk.tab.run(() => {
      const message = window.holdfast.createMessage({ role: "user", content: "last words" });
      const append = window.desk.session("pagehide").append({ messages: [message] });
      // In the turn in which the append resolves the page is told to leave; nothing later of it is waited for.
      void append.then(() => location.replace("/elsewhere"));
      return message.id;
    });
    await expect.poll(() => desk.tab.run(() => location.pathname), soon).toBe("/elsewhere");
    // Read as rows of the database, not through the SDK.
    await desk.tab.goto(setting.site.url);
    await untilReady(desk.tab);
    const stored = await desk.tab.run(async () => {
      const found: string[] = [];
      for (const { name } of await indexedDB.databases()) {
        const db = new window.libraries.Dexie(name ?? "");
        await db.open();
        found.push(JSON.stringify(await db.table("outbox").toArray()));
        db.close();
      }
      return found.join("\n");
    });
    expect(stored).toContain(id);
    expect(stored).toContain("last words");
    await desk.reload();
    expect(await desk.texts("pagehide")).toEqual(["last words"]);
  });

  test("[C9, C39] three queued messages outlive the closing of their tab", async () => {
    const second = await DeskTab.open(profile, place());
    const ids = await second.say("closed", "first", "second", "third");
    await second.tab.close();
    await threeReturn("closed", ids);
  });

  test("[C9, C25] three queued messages outlive SIGKILL of the whole browser", async () => {
    const ids = await desk.say("killed", "first", "second", "third");
    await profile.kill();
    desk = await DeskTab.open(profile, place());
    await threeReturn("killed", ids);
  });
});
