import { describe, expect, test } from "vitest";
import type { Device } from "../sim/device.ts";
import type { World } from "../sim/world.ts";
import { begin, loseEachAnswerOnce, say, textsIn, watchFrames } from "./setting.ts";

/** Every kind of op, begun on a session that holds "one" and "two" in generation 1. */
const KINDS: Record<string, (device: Device, world: World) => Promise<unknown>> = {
  append: ({ session }) => session.append({ messages: [say("three")] }),
  "append with state": ({ session }) =>
    session.append({ messages: [say("three")], state: { step: 3 }, metadata: { title: "T" } }),
  "append that rejects": ({ session }) =>
    session.append({ messages: [say("three")] }, { onConflict: "reject" }),
  checkpoint: async ({ session }) =>
    session.checkpoint({ messages: [...(await session.history()), say("three")] }),
  "diverged checkpoint": ({ session }) => session.checkpoint({ messages: [say("other")] }),
  replace: ({ session }) => session.replace({ messages: [say("other")], state: { step: 4 } }),
  restore: ({ session }) => session.restore(0),
  rename: ({ client }) => client.sessions.rename("talk", "Renamed"),
  archive: ({ client }) => client.sessions.archive("talk"),
  "mark read": ({ client }) => client.sessions.markRead("talk", 1),
  create: ({ client }) => client.sessions.create("another"),
  delete: ({ client }) => client.sessions.delete("talk"),
};

/** What passes between the lost answer and the retry. */
const DELAYS: Record<string, (world: World, device: Device) => Promise<unknown>> = {
  "31 s": ({ clock }) => clock.advance(31_000),
  "16 min": ({ clock }) => clock.advance(16 * 60_000),
  "a reload": (world, device) => world.during(device.reload()),
  "a relay restart": (world) => world.during(world.restartRelay()),
};

async function everything(world: World, { session, client }: Device): Promise<unknown> {
  const snapshot = await session.load();
  const { entries } = await client.sessions.list();
  return {
    messages: snapshot?.messages.map(({ id }) => id),
    state: snapshot?.state,
    metadata: snapshot?.metadata,
    revision: snapshot?.revision,
    entries: entries.map(({ id, title, count, unread, archived, metadata }) => ({
      id,
      title,
      count,
      unread,
      archived,
      metadata,
    })),
    generations: (await world.generations()).map(({ messages }) => messages.map(({ id }) => id)),
  };
}

describe("lost answers", () => {
  for (const [kind, work] of Object.entries(KINDS)) {
    for (const [delay, pass] of Object.entries(DELAYS)) {
      test(`[C15, C24, H4, P14] ${kind}: its acknowledgement is lost, the retry comes after ${delay}: one effect, the first answer`, async () => {
        const { world, a, b } = await begin(2);
        await world.during(a.session.append({ messages: [say("zero")] }, { until: "confirmed" }));
        await world.during(a.session.replace({ messages: [say("one"), say("two")] }));
        await world.during(a.client.flush());
        const { frames } = watchFrames(a.cable);
        const lost = loseEachAnswerOnce(a.cable);
        await world.during(work(a, world));
        const meant = await world.during(everything(world, a));
        await world.clock.until(() => lost.size > 0);
        a.cable.cut();
        expect(a.client.status.pending).toBe(1);
        await pass(world, a);
        await world.settle();
        const acks = frames.filter(({ type }) => type === "ack");
        // What stands in the log may have been recognised there already: then there is no retry at all.
        expect(acks.map(({ outcome }) => outcome)).toEqual(["applied", "known"].slice(0, acks.length));
        for (const again of acks.slice(1)) {
          for (const field of ["opId", "incarnation", "head", "added"])
            expect(again[field], field).toEqual(acks[0]?.[field]);
        }
        expect(acks.length).toBeGreaterThan(0);
        const { generations: _, ...here } = (await world.during(everything(world, a))) as Record<
          string,
          unknown
        >;
        const { generations: __, ...before } = meant as Record<string, unknown>;
        expect(here).toEqual(before);
        expect(await world.during(everything(world, b))).toMatchObject(here);
        expect(a.client.status).toMatchObject({ pending: 0, rejected: 0 });
        expect(await a.client.rejected.list()).toEqual([]);
        await world.during(world.close());
      });
    }
  }

  test("[C16, H10] a timeout is not a failure: the op stays pending with its id until an answer says otherwise", async () => {
    const { world, a } = await begin(1);
    const { frames } = watchFrames(a.cable);
    for (const trouble of ["swallow", "drop", "cut"] as const) {
      const message = say(trouble);
      await world.during(a.session.append({ messages: [message] }));
      a.cable[trouble]();
      for (let minutes = 0; minutes < 10; minutes++) {
        await world.clock.advance(60_000);
        const pending = (await a.session.history()).filter(({ id }) => id === message.id);
        expect(pending).toHaveLength(1);
        expect(a.client.status.rejected).toBe(0);
      }
      await world.settle();
    }
    const ids = new Set(frames.filter(({ type }) => type === "append").map(({ opId }) => opId));
    expect(ids.size).toBe(3);
    expect(await textsIn(a.session)).toEqual(["swallow", "drop", "cut"]);
    await world.during(world.close());
  });

  for (const after of ["a replace", "a restore of what was replaced", "months", "a delete"] as const) {
    test(`[C63, H4, P14] a retry that arrives after ${after} gets the first answer and has no second effect`, async () => {
      const { world, a, b } = await begin(2);
      await world.during(a.session.append({ messages: [say("one")] }, { until: "confirmed" }));
      await world.clock.advance(1_000);
      const { frames } = watchFrames(a.cable);
      const lost = loseEachAnswerOnce(a.cable, ["ack"]);
      await world.during(a.session.append({ messages: [say("two")], state: { at: 2 } }));
      await world.clock.until(() => lost.size > 0);
      a.cable.cut();
      await world.clock.advance(1_000);
      if (after === "months") {
        world.clock.jump(90 * 86_400_000);
        await world.clock.advance(3_600_000);
      }
      if (after === "a delete") await world.during(b.client.sessions.delete("talk"));
      else if (after !== "months") {
        await world.during(b.session.replace({ messages: [say("else")], state: { at: 3 } }));
        if (after !== "a replace") await world.during(b.session.restore(0));
      }
      await world.settle();
      const seen = [await world.during(textsIn(a.session)), await world.during(textsIn(b.session))];
      const expected = {
        "a replace": ["else"],
        "a restore of what was replaced": ["one", "two"],
        months: ["one", "two"],
        "a delete": [],
      }[after];
      expect(seen).toEqual([expected, expected]);
      const acks = frames.filter(({ type }) => type === "ack");
      if (acks.length > 1) expect(acks[1]).toMatchObject({ outcome: "known", head: acks[0]?.head });
      expect(a.client.status).toMatchObject({ pending: 0 });
      await world.during(world.close());
    });
  }
});
