import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client.ts";
import { serializeMessage, textOf } from "../../src/model/message.ts";
import { DeskTab, soon } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";
import { enginesHere, Profile } from "../support/engines.ts";

let setting: EngineSetting;
beforeAll(async () => {
  setting = await openEngineSetting();
});
afterAll(() => setting?.close());

// The laptop's line can be cut; the phone's cannot. Both are the same person's.
describe.each(enginesHere())("a laptop with $name", (engine) => {
  const actorId = `anna-${engine.name}`;
  const message = (content: string) => ({ role: "user" as const, content });
  let profile: Profile;
  let laptop: DeskTab;
  let phone: Client;

  beforeAll(async () => {
    setting.cable.heal();
    profile = new Profile(engine);
    laptop = await DeskTab.open(profile, { site: setting.site.url, url: setting.cable.url, actorId });
    phone = await setting.openPhone(actorId);
    await laptop.untilOnline();
  });
  afterAll(() => profile?.dispose());

  const onPhone = async (session: string) => (await phone.session(session).history()).map(textOf);
  async function cut(): Promise<void> {
    setting.cable.cut();
    await expect.poll(async () => (await laptop.status()).link, soon).not.toBe("online");
  }
  async function heal(): Promise<void> {
    setting.cable.heal();
    await laptop.reconnect();
    await laptop.flush();
  }

  test("[H1, H3] and a phone, one offline, both write, and come together in one order", async () => {
    await laptop.say("tunnel", "before 1", "before 2");
    await expect.poll(() => onPhone("tunnel"), soon).toEqual(["before 1", "before 2"]);
    await cut();
    await laptop.say("tunnel", "laptop 1", "laptop 2", "laptop 3");
    await laptop.setState("tunnel", "laptop", "was here");
    for (const text of ["phone 1", "phone 2"])
      await phone.session("tunnel").append({ messages: [message(text)] }, { until: "confirmed" });
    await phone.session("tunnel").updateState((draft) => {
      draft.phone = "was here too";
    });
    expect(await phone.flush()).toEqual({ pending: 0 });
    expect(await laptop.texts("tunnel")).toEqual([
      "before 1",
      "before 2",
      "laptop 1",
      "laptop 2",
      "laptop 3",
    ]);
    await expect.poll(() => laptop.status(), soon).toMatchObject({ pending: 4, rejected: 0 });

    await heal();
    const lines = ["before 1", "before 2", "phone 1", "phone 2", "laptop 1", "laptop 2", "laptop 3"];
    await expect.poll(() => laptop.texts("tunnel"), soon).toEqual(lines);
    await expect.poll(() => onPhone("tunnel"), soon).toEqual(lines);
    const merged = { laptop: "was here", phone: "was here too" };
    await expect.poll(() => laptop.state("tunnel"), soon).toEqual(merged);
    await expect.poll(() => phone.session("tunnel").state(), soon).toEqual(merged);
    const ids = (await phone.session("tunnel").history()).map(({ id }) => id);
    await laptop.seen("tunnel");
    await expect
      .poll(async () => (await laptop.seen("tunnel")).map(({ id, delivery }) => [id, delivery]), soon)
      .toEqual(ids.map((id) => [id, "confirmed"]));
  });

  test("[H1, C25] a reload while offline keeps all, what is pending included, and sends it later", async () => {
    await laptop.say("reload", "confirmed");
    await laptop.flush();
    await cut();
    const ids = await laptop.say("reload", "offline 1", "offline 2", "offline 3");
    await laptop.setState("reload", "draft", "kept");
    const before = await laptop.serialized("reload");

    await laptop.reload();
    expect(await laptop.serialized("reload")).toEqual(before);
    expect(await laptop.state("reload")).toEqual({ draft: "kept" });
    await laptop.seen("reload");
    await expect
      .poll(async () => (await laptop.seen("reload")).map(({ delivery }) => delivery), soon)
      .toEqual(["confirmed", "pending", "pending", "pending"]);
    await expect.poll(async () => (await laptop.status()).pending, soon).toBe(4);

    await heal();
    expect(before.slice(1).map(({ id }) => id)).toEqual(ids);
    await expect
      .poll(async () => (await phone.session("reload").history()).map(serializeMessage), soon)
      .toEqual(before);
    await expect.poll(() => phone.session("reload").state(), soon).toEqual({ draft: "kept" });
  });
});
