import { describe, expect, test } from "vitest";
import { presenceView } from "../../src/react/use-presence.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { AFTER_CLOSE_MS, HOLD_MS, SHOWS_MS } from "../../src/sync/state-presence.ts";
import { begin, say } from "./setting.ts";

/** Who else is here, by what they say of themselves. */
function others({ awareness }: SyncedSession): unknown[] {
  return presenceView(awareness)
    .current()
    .map(({ state }) => state.name)
    .sort();
}

/** A session that the relay knows, open in two tabs of the first device and in one of the second. */
async function three() {
  const { world, a, b } = await begin(2);
  await world.during(a.session.append({ messages: [say("there is such a session")] }));
  await world.settle();
  const second = await world.during(a.openSecond());
  await world.clock.advance(1_000);
  expect([a.client.status.leader, second.client.status.leader]).toEqual([true, false]);
  return { world, a, b, second };
}

describe("presence in the tabs of one browser", () => {
  test("[H12] a follower sees and is seen: by the leading tab, and over it by another device", async () => {
    const { world, a, b, second } = await three();
    b.session.awareness.setLocalState({ name: "other device" });
    second.session.awareness.setLocalState({ name: "follower" });
    a.session.awareness.setLocalState({ name: "leader" });
    await world.clock.advance(1_000);
    expect(others(a.session)).toEqual(["follower", "other device"]);
    expect(others(second.session)).toEqual(["leader", "other device"]);
    expect(others(b.session)).toEqual(["follower", "leader"]);
    second.session.awareness.setLocalState({ name: "renamed" });
    b.session.awareness.setLocalState(null);
    await world.clock.advance(1_000);
    expect([others(a.session), others(second.session), others(b.session)]).toEqual([
      ["renamed"],
      ["leader"],
      ["leader", "renamed"],
    ]);
    await world.during(Promise.all([second.client.close()]));
    await world.clock.advance(1_000);
    expect([others(a.session), others(b.session)]).toEqual([[], ["leader"]]);
    await world.during(world.close());
  });

  test("[H12] a session that the leading tab does not show is held open by it while a follower shows it, and let go after", async () => {
    const { world, a, b, second } = await three();
    await world.during(a.session.close());
    b.session.awareness.setLocalState({ name: "other device" });
    second.session.awareness.setLocalState({ name: "follower" });
    await world.clock.advance(SHOWS_MS + 1_000);
    expect(others(b.session)).toEqual(["follower"]);
    expect(others(second.session)).toEqual(["other device"]);
    // For as long as it says so, however long.
    await world.clock.advance(HOLD_MS * 2);
    second.session.awareness.setLocalState({ name: "still here" });
    await world.clock.advance(1_000);
    expect(others(b.session)).toEqual(["still here"]);
    await world.during(second.session.close());
    await world.clock.advance(1_000);
    expect(others(b.session)).toEqual([]);
    const opened: unknown[] = [];
    a.cable.watch(({ data }) => {
      if (typeof data === "string" && data.includes('"close-channel"')) opened.push(JSON.parse(data));
    });
    await world.clock.advance(AFTER_CLOSE_MS + 1_000);
    expect(opened).toMatchObject([{ type: "close-channel" }]);
    await world.during(Promise.all([second.client.close(), world.close()]));
  });

  test("[H12] presence survives a cut connection and another leader", async () => {
    const { world, a, b, second } = await three();
    second.session.awareness.setLocalState({ name: "follower" });
    b.session.awareness.setLocalState({ name: "other device" });
    await world.clock.advance(1_000);
    a.cable.cut();
    await world.clock.advance(5_000);
    expect(others(b.session)).toEqual([]);
    expect([others(a.session), others(second.session)]).toEqual([["follower"], []]);
    a.cable.heal();
    a.page.signal("online");
    await world.clock.advance(5_000);
    // As every 15 s.
    b.session.awareness.setLocalState({ name: "other device" });
    await world.clock.advance(1_000);
    expect([others(b.session), others(second.session)]).toEqual([["follower"], ["other device"]]);
    a.database.kill();
    a.tab.kill();
    await world.during(a.client.close());
    await world.clock.advance(15_000);
    expect(second.client.status.leader).toBe(true);
    b.session.awareness.setLocalState({ name: "other device" });
    await world.clock.advance(1_000);
    expect([others(b.session), others(second.session)]).toEqual([["follower"], ["other device"]]);
    await world.during(Promise.all([second.client.close(), world.close()]));
  });

  test("[H8, C60] presence of one session is not seen in another", async () => {
    const { world, a, second } = await three();
    const [one, two] = [a.client.session("elsewhere"), second.client.session("elsewhere")];
    second.session.awareness.setLocalState({ name: "in the talk" });
    await world.clock.advance(1_000);
    expect([others(one), others(two), others(a.session)]).toEqual([[], [], ["in the talk"]]);
    await world.during(Promise.all([second.client.close(), world.close()]));
  });
});
