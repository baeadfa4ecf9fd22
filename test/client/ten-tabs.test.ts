import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { World } from "../sim/world.ts";
import { Profile, type ProfileTab, shared } from "./profile.ts";
import { say } from "./setting.ts";

const TABS = 10;
const DEEDS = [
  "append",
  "append",
  "append",
  "state",
  "kill",
  "reload",
  "freeze",
  "freeze the leader",
  "kill the leader",
  "put the leader to sleep",
  "thaw",
  "sleep",
  "wake",
  "hide",
  "cut",
  "heal",
  "wait",
] as const;
type Deed = (typeof DEEDS)[number];

interface Step {
  readonly deed: Deed;
  readonly tab: number;
  readonly thenMs: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    deed: fc.constantFrom(...DEEDS),
    tab: fc.nat({ max: TABS - 1 }),
    thenMs: fc.constantFrom(0, 1, 50, 1_000, 4_000, 9_000),
  }),
  { minLength: 10, maxLength: 30 },
);

/** Ten tabs of one profile through a script; then all is well again. */
async function live(seed: number, script: readonly Step[], locks: boolean): Promise<Profile> {
  const world = await World.begin(seed, memoryStorage(), 0);
  const profile = new Profile(world, { locks });
  const slots: ProfileTab[] = [];
  for (let n = 0; n < TABS; n++) slots.push(await world.during(profile.open()));
  const committed: string[] = [];
  const unknown = new Set<string>();
  let texts = 0;

  const leaderIn = (): number => slots.findIndex(({ client }) => client.status.leader);
  const act = async (deed: Deed, at: number): Promise<void> => {
    const tab = slots[at];
    if (tab === undefined) return;
    const awake = tab.condition === "awake";
    switch (deed) {
      case "append": {
        if (!awake) return;
        const text = `${++texts}`;
        unknown.add(text);
        await world.during(tab.session.append({ messages: [say(text)] }));
        committed.push(text);
        unknown.delete(text);
        return;
      }
      case "state":
        if (awake)
          await world.during(tab.session.updateState((draft) => Object.assign(draft, { [at]: texts })));
        return;
      case "kill": {
        // One that was writing when it died: the write is there whole, or not at all.
        if (awake) {
          const text = `${++texts}`;
          unknown.add(text);
          tab.session.append({ messages: [say(text)] }).catch(() => {});
        }
        profile.kill(tab);
        slots[at] = await world.during(profile.open());
        return;
      }
      case "reload":
        if (tab.condition !== "awake") return;
        await world.during(tab.client.close());
        tab.condition = "gone";
        slots[at] = await world.during(profile.open());
        return;
      case "freeze":
        if (!awake) return;
        tab.condition = "deaf";
        tab.tab.freeze();
        return;
      case "thaw":
        if (tab.condition !== "deaf") return;
        tab.condition = "awake";
        tab.tab.thaw();
        return;
      case "sleep":
        if (!awake) return;
        tab.condition = "asleep";
        tab.env.page.signal("hidden");
        tab.env.page.signal(at % 2 === 0 ? "freeze" : "pagehide");
        expect(tab.cable.open, "a page that sleeps has no socket").toBe(0);
        tab.tab.freeze();
        return;
      case "wake":
        if (tab.condition !== "asleep") return;
        tab.condition = "awake";
        tab.tab.thaw();
        tab.env.page.signal(at % 2 === 0 ? "resume" : "pageshow");
        tab.env.page.signal("visible");
        return;
      case "hide":
        if (awake) tab.env.page.signal(tab.env.page.visible ? "hidden" : "visible");
        return;
      case "cut":
        for (const { cable } of slots) cable.cut({ silently: at % 2 === 0 });
        return;
      case "heal":
        for (const { cable } of slots) cable.heal();
        return;
      case "freeze the leader":
        return act("freeze", leaderIn());
      case "kill the leader":
        return act("kill", leaderIn());
      case "put the leader to sleep":
        return act("sleep", leaderIn());
      case "wait":
        return world.clock.advance(10_000);
    }
  };
  /** Within a second all tabs that can hear say the same as the one that leads. */
  const alike = (when: string): void => {
    const leader = slots.find(
      (tab) => profile.leadsOf(tab).at(-1) === profile.epoch && tab.client.status.leader,
    );
    if (leader?.condition !== "awake") return;
    for (const tab of slots) {
      if (tab.condition === "awake") expect(shared(tab), `${tab.name} ${when}`).toEqual(shared(leader));
    }
    const leaders = slots.filter(({ client, condition }) => condition === "awake" && client.status.leader);
    expect(
      leaders.map(({ name }) => name),
      when,
    ).toEqual([leader.name]);
  };

  for (const [index, { deed, tab, thenMs }] of script.entries()) {
    await act(deed, tab);
    await world.clock.advance(thenMs);
    if (thenMs >= 1_000) alike(`after step ${index}, ${deed}`);
    expect(profile.sights, `after step ${index}, ${deed}`).toEqual([]);
  }

  for (let at = 0; at < TABS; at++) {
    await act("thaw", at);
    await act("wake", at);
    slots[at]?.cable.heal();
    slots[at]?.env.page.signal("visible");
    slots[at]?.env.page.signal("online");
  }
  await world.clock.advance(120_000);
  alike("in the end");
  expect(slots.filter(({ client }) => client.status.leader)).toHaveLength(1);
  expect(profile.openSockets).toBe(1);
  for (const { client } of slots)
    expect(client.status).toMatchObject({ pending: 0, rejected: 0, link: "online" });
  expect(profile.sights).toEqual([]);
  expect(profile.doubledEpochs).toEqual([]);
  const relayed = ((await world.generations()).at(-1)?.messages ?? []).map(({ text }) => text);
  expect(new Set(relayed).size).toBe(relayed.length);
  expect(relayed.filter((text) => !unknown.has(text))).toEqual(committed);
  await world.during(Promise.all(slots.map(({ client }) => client.close())));
  await world.close();
  return profile;
}

describe("ten tabs of one profile", () => {
  for (const locks of [true, false]) {
    test(`[C37, C38, C39, H2, H12] ${locks ? "with" : "without"} Web Locks, whatever happens to them: one sender an epoch, none after its fence, nothing lost or doubled, one status`, async () => {
      let sent = 0;
      let leads = 0;
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: 1_000_000 }), steps, async (seed, script) => {
          const profile = await live(seed, script, locks);
          sent += profile.sent;
          leads += profile.epoch;
        }),
        { numRuns: 12, seed: 37, endOnFailure: true },
      );
      // The scripts are no use when nothing is sent and nobody follows anybody.
      expect(sent).toBeGreaterThan(12);
      expect(leads).toBeGreaterThan(24);
    }, 120_000);
  }
});
