import { describe, expect, test } from "vitest";
import { begin, say } from "./setting.ts";

/** The first of two devices has deleted the session; the second one has changed its state meanwhile. */
async function apart(change: (draft: Record<string, unknown>) => void) {
  const { world, a, b } = await begin(2);
  const state = { kept: 0, list: ["base"], plan: { step: 1 } };
  await world.during(a.session.append({ messages: [say("x")], state }));
  await world.during(a.client.flush());
  await world.during(b.session.load());
  await world.clock.advance(1_000);
  b.cable.cut();
  await world.clock.advance(100);
  await world.during(b.session.updateState(change));
  await world.during(a.client.sessions.delete("talk"));
  await world.during(a.client.flush());
  b.cable.heal();
  b.client.reconnect();
  await world.clock.advance(30_000);
  return { world, a, b };
}

describe("unsent state of a session that another device deletes", () => {
  test("[H10, C8] is set aside and counted, and makes the state anew when it is sent again", async () => {
    const { world, a, b } = await apart((draft) => {
      draft.precious = 1;
      (draft.list as string[]).push("new");
      (draft.plan as { step: number }).step = 2;
    });
    expect(b.client.status).toMatchObject({ pending: 0, rejected: 1 });
    const [op] = await b.client.rejected.list();
    expect(op).toMatchObject({ sessionId: "talk", kind: "append", reason: "deleted", messages: [] });
    await world.during(b.client.rejected.retry(op?.opId ?? ""));
    await world.clock.advance(10_000);
    expect(b.client.status).toMatchObject({ pending: 0, rejected: 0 });
    expect(await world.during(a.session.state())).toEqual({
      precious: 1,
      list: ["new"],
      plan: { step: 2 },
    });
    await world.during(world.close());
  });

  test("[H10] of an op that was refused with it, too: sent again into another life, its state is not lost", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("x")], state: { n: 1, list: ["base"] } }));
    await world.during(a.client.flush());
    await world.during(b.session.load());
    await world.clock.advance(1_000);
    b.cable.cut();
    await world.clock.advance(100);
    const state = { n: 2, list: ["base", "new"], more: true };
    await world.during(b.session.append({ messages: [say("y")], state }));
    await world.during(a.client.sessions.delete("talk"));
    await world.during(a.client.flush());
    b.cable.heal();
    b.client.reconnect();
    await world.clock.advance(30_000);
    const [op] = await b.client.rejected.list();
    await world.during(b.client.rejected.retry(op?.opId ?? ""));
    await world.clock.advance(10_000);
    for (const { session } of [a, b])
      expect(await world.during(session.state())).toEqual({ n: 2, list: ["new"], more: true });
    await world.during(world.close());
  });

  test("[H10] with nothing but removals in it there is nothing to decide about", async () => {
    const { world, b } = await apart((draft) => {
      delete draft.kept;
    });
    expect(b.client.status).toMatchObject({ pending: 0, rejected: 0 });
    expect(await b.client.rejected.list()).toEqual([]);
    await world.during(world.close());
  });
});
