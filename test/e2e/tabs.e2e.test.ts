import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskTab, soon } from "../support/desk-tab.ts";
import { type EngineSetting, openEngineSetting } from "../support/engine-setting.ts";
import { enginesHere, Profile } from "../support/engines.ts";

let setting: EngineSetting;
beforeAll(async () => {
  setting = await openEngineSetting();
});
afterAll(() => setting?.close());

/** When a tab's live window first shows a text, by the clock that all tabs share. */
function shownAt(desk: DeskTab, session: string, text: string): Promise<number> {
  return desk.tab.run(
    ([id, wanted]) =>
      new Promise<number>((resolve) => {
        const look = () => {
          if (window.desk.seen(id).some((line) => line.text === wanted)) resolve(Date.now());
        };
        window.desk.session(id).messages.subscribe(look);
        look();
      }),
    [session, text] as const,
  );
}

/** How long until what one tab says shows in the other, from the moment its append resolved. */
async function carries(from: DeskTab, to: DeskTab, text: string): Promise<number> {
  await to.seen("shared");
  const shown = shownAt(to, "shared", text);
  const written = await from.tab.run(async (line) => {
    await window.desk.say("shared", [line]);
    return Date.now();
  }, text);
  return (await shown) - written;
}

describe.each(enginesHere())("in $name", (engine) => {
  let profile: Profile;
  let first: DeskTab;
  let second: DeskTab;

  const place = () => ({ site: setting.site.url, url: setting.cable.url, actorId: `anna-${engine.name}` });
  const both = () => [first, second];

  beforeAll(async () => {
    setting.cable.heal();
    profile = new Profile(engine);
    first = await DeskTab.open(profile, place());
    await first.untilOnline();
    second = await DeskTab.open(profile, place());
  });
  afterAll(() => profile?.dispose());

  test("[C37, H12] of two tabs one leads and connects, and both say the same of the connection", async () => {
    const leads = await Promise.all(both().map(async (desk) => (await desk.status()).leader));
    expect(leads).toEqual([true, false]);
    await second.untilOnline();
    expect(setting.cable.open).toBe(1);
  });

  test("[H1, C37] each tab sees within a second what the other wrote, and both are sent", async () => {
    expect(await carries(first, second, "from the leader")).toBeLessThan(1_000);
    expect(await carries(second, first, "from the follower")).toBeLessThan(1_000);
    await second.flush();
    for (const desk of both()) {
      expect(await desk.texts("shared")).toEqual(["from the leader", "from the follower"]);
      await expect
        .poll(async () => (await desk.seen("shared")).map(({ delivery }) => delivery), soon)
        .toEqual(["confirmed", "confirmed"]);
    }
  });

  test("[H12, C37] what waits is the same number in both tabs while the line is cut", async () => {
    setting.cable.cut();
    await expect.poll(async () => (await second.status()).link, soon).not.toBe("online");
    await second.say("shared", "offline 1", "offline 2");
    for (const desk of both())
      await expect.poll(async () => (await desk.status()).pending, { timeout: 1_000 }).toBe(2);
    setting.cable.heal();
    // The follower's word reaches the one that holds the connection.
    await second.reconnect();
    await second.flush();
  });

  test("[C39, H1] closing the leader hands over, with what it had not sent", async () => {
    setting.cable.cut();
    const ids = await first.say("shared", "left behind 1", "left behind 2");
    await first.tab.close();
    await expect.poll(async () => (await second.status()).leader, soon).toBe(true);
    setting.cable.heal();
    await second.reconnect();
    await second.flush();
    await second.untilOnline();
    const shown = await second.seen("shared");
    expect(shown.slice(-2).map(({ id, delivery }) => ({ id, delivery }))).toEqual(
      ids.map((id) => ({ id, delivery: "confirmed" })),
    );
    first = await DeskTab.open(profile, place());
  });

  test("[C39] what a follower wrote is sent by the leader after the follower's page is gone", async () => {
    setting.cable.cut();
    const [id] = await first.say("follower", "written and gone");
    await first.tab.close();
    setting.cable.heal();
    await second.reconnect();
    await second.flush();
    const phone = await setting.openPhone(place().actorId);
    await expect
      .poll(async () => (await phone.session("follower").history()).map((message) => message.id), soon)
      .toEqual([id]);
  });

  test("[C9, C40] an application in a frame that is removed in the middle of its appends has kept those that had resolved", async () => {
    const host = await profile.openTab(setting.site.url);
    const removed = 12;
    const resolved = new Set<string>();
    for (let round = 0; round < removed; round += 1) {
      const session = `frame ${round}`;
      await host.run(beginInFrame, { ...place(), session });
      await wait(10 * round);
      for (const id of await host.run(removeFrame)) resolved.add(id);
      // A half-done transaction of the frame holds nobody up.
      const [id] = await second.say(session, "from the tab");
      const ids = (await second.serialized(session)).map((message) => message.id);
      expect(ids).toContain(id);
      expect([...resolved].filter((one) => one.startsWith(session) && !ids.includes(one))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
    }
    expect(resolved.size).toBeGreaterThan(0);
    await second.flush();
    await host.close();
  });
});

declare global {
  interface Window {
    /** Ids of messages whose append had resolved in the frame. */
    heard: string[];
  }
}

/** Opens the application in a frame of the page and has it append without a pause. */
async function beginInFrame(given: {
  site: string;
  url: string;
  actorId: string;
  session: string;
}): Promise<void> {
  window.heard = [];
  const frame = document.createElement("iframe");
  frame.src = given.site;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
  document.body.append(frame);
  await loaded;
  const inside = frame.contentWindow as unknown as typeof window;
  while (inside.document.documentElement.dataset.ready !== "true")
    await new Promise((resolve) => setTimeout(resolve, 10));
  await inside.desk.open({ url: given.url, actorId: given.actorId });
  const heard = window.heard;
  const append = async (n: number): Promise<void> => {
    const id = `${given.session} message ${n}`;
    const message = { id, role: "user", content: "x".repeat(2_000) } as const;
    await inside.desk.session(given.session).append({ messages: [message] });
    heard.push(id);
    void append(n + 3);
  };
  for (const lane of [0, 1, 2]) void append(lane);
}

function removeFrame(): string[] {
  document.querySelector("iframe")?.remove();
  return window.heard;
}
