import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../server/limits.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { begin, say, watchFrames } from "./setting.ts";

type Recipe = (draft: JsonObject) => void;

/** What two devices do to one state while apart, and what must have become of it. */
const APART: Record<string, { base: JsonObject; a: Recipe; b: Recipe; both: JsonObject | "one whole" }> = {
  "different leaves": {
    base: { x: 0 },
    a: (draft) => Object.assign(draft, { left: 1 }),
    b: (draft) => Object.assign(draft, { right: 2 }),
    both: { x: 0, left: 1, right: 2 },
  },
  "different leaves below a parent that both created": {
    base: {},
    a: (draft) => Object.assign(draft, { plan: { step: 1 } }),
    b: (draft) => Object.assign(draft, { plan: { owner: "b" } }),
    both: { plan: { step: 1, owner: "b" } },
  },
  "two pushes to an array that both had": {
    base: { tags: ["base"] },
    a: (draft) => (draft.tags as string[]).push("a"),
    b: (draft) => (draft.tags as string[]).push("b"),
    both: { tags: ["base", "a", "b"] },
  },
  "a push and a removal in an array that both had": {
    base: { tags: ["0", "1", "2"] },
    a: (draft) => (draft.tags as string[]).push("3"),
    b: (draft) => (draft.tags as string[]).splice(0, 1),
    both: { tags: ["1", "2", "3"] },
  },
  "arrays created apart at one place": {
    base: {},
    a: (draft) => Object.assign(draft, { tags: ["a", "aa"] }),
    b: (draft) => Object.assign(draft, { tags: ["b"] }),
    both: "one whole",
  },
  "one removes what the other changed beside": {
    base: { keep: 1, gone: 1 },
    a: (draft) => delete draft.gone,
    b: (draft) => Object.assign(draft, { keep: 2 }),
    both: { keep: 2 },
  },
};

describe("state through clients", () => {
  for (const [what, { base, a: recipeA, b: recipeB, both }] of Object.entries(APART)) {
    for (const way of ["updateState", "append", "checkpoint", "replica offline twice"] as const) {
      test(`[H6] ${what}, written by ${way} while apart`, async () => {
        const { world, a, b } = await begin(2);
        await world.during(a.session.append({ messages: [say("base")], state: base }));
        await world.settle();
        await world.during(b.session.state());
        a.cable.cut();
        b.cable.cut();
        for (const [device, recipe] of [
          [a, recipeA],
          [b, recipeB],
        ] as const) {
          if (way === "updateState" || way === "replica offline twice") {
            await world.during(device.session.updateState(recipe));
          } else {
            const state = await device.session.state();
            recipe(state);
            if (way === "append") await world.during(device.session.append({ messages: [], state }));
            else
              await world.during(
                device.session.checkpoint({ messages: await device.session.history(), state }),
              );
          }
          if (way === "replica offline twice") await world.during(device.reload());
        }
        const seen = await a.session.state();
        await world.settle();
        const states = [await world.during(a.session.state()), await world.during(b.session.state())];
        expect(states[0]).toEqual(states[1]);
        if (both === "one whole") expect([["a", "aa"], ["b"]]).toContainEqual(states[0]?.tags);
        else if (what === "two pushes to an array that both had")
          expect([...((states[0]?.tags ?? []) as string[])].sort()).toEqual(["a", "b", "base"]);
        else expect(states[0]).toEqual(both);
        expect(seen).not.toEqual(base);
        await world.during(a.reload());
        expect(await world.during(a.session.state())).toEqual(states[0]);
        await world.during(world.close());
      });
    }
  }

  test("[P51] presence goes by the number of the document, also in a connection that ends", async () => {
    const { world, a } = await begin(1);
    expect(a.session.awareness.clientID).toBe(a.session.doc.clientID);
    a.session.awareness.setLocalState({ name: "Ada" });
    await world.settle();
    await world.during(a.client.close());
    expect(a.client.status.lastError).toBeUndefined();
  });

  test("[H6, P55] online edits of two devices and edits of the document itself all arrive", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("base")] }, { until: "confirmed" }));
    await world.clock.advance(1_000);
    for (let n = 0; n < 5; n++) {
      await world.during(a.session.updateState((draft) => Object.assign(draft, { a: n })));
      a.session.doc.getMap("state").set("/doc", n);
      await world.during(b.session.updateState((draft) => Object.assign(draft, { b: n })));
      await world.clock.advance(300);
    }
    await world.settle();
    for (const { session, client } of [a, b]) {
      expect(await world.during(session.state())).toEqual({ a: 4, b: 4, doc: 4 });
      expect(client.status.pending).toBe(0);
    }
    await world.during(world.close());
  });

  test("[H1, H12] a change of state of a session that does not exist yet is an op, shows at once and is pending", async () => {
    const { world, a, b } = await begin(2);
    a.cable.cut();
    await world.clock.advance(100);
    await world.during(a.session.updateState((draft) => Object.assign(draft, { n: 1 })));
    await world.during(a.session.updateState((draft) => Object.assign(draft, { m: 2 })));
    expect(await a.session.state()).toEqual({ n: 1, m: 2 });
    expect((await world.during(a.client.flush({ timeoutMs: 0 }))).pending).toBe(2);
    await world.settle();
    expect(await world.during(b.session.state())).toEqual({ n: 1, m: 2 });
    await world.during(world.close());
  });

  test("[H3, H6] a refused append leaves nothing of its state, and what was built on that is told", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("base")], state: { n: 0 } }));
    await world.settle();
    a.cable.cut();
    await world.during(
      a.session.append({ messages: [say("mine")], state: { n: 0, mine: 1 } }, { onConflict: "reject" }),
    );
    expect(await a.session.state()).toEqual({ n: 0, mine: 1 });
    await world.during(b.session.append({ messages: [say("theirs")] }, { until: "confirmed" }));
    await world.settle();
    for (const { session } of [a, b]) expect(await world.during(session.state())).toEqual({ n: 0 });
    await world.during(world.close());
  });

  test("[P10] a change longer than a text frame and within maxStateBytes reaches the relay over its channel", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("base")] }));
    await world.settle();
    const long = "x".repeat(DEFAULT_LIMITS.maxFrameBytes + 1_000);
    await world.during(a.session.updateState((draft) => Object.assign(draft, { long })));
    await world.settle();
    expect((await world.during(b.session.state())).long).toBe(long);
    expect(a.client.status).toMatchObject({ link: "online", pending: 0, lastError: undefined });
    await world.during(world.close());
  });

  test("[H10] a change over maxStateBytes is refused at the call, and the edits after it reach the relay", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("base")] }));
    await world.settle();
    const long = "x".repeat(DEFAULT_LIMITS.maxStateBytes);
    const edit = a.session.updateState((draft) => Object.assign(draft, { long }));
    const refused = expect(edit).rejects.toMatchObject({ code: "rejected", reason: "too-large" });
    await world.during(refused);
    await world.during(a.session.updateState((draft) => Object.assign(draft, { short: 1 })));
    await world.settle();
    for (const { session } of [a, b]) expect(await world.during(session.state())).toEqual({ short: 1 });
    expect(a.client.status).toMatchObject({ link: "online", pending: 0, lastError: undefined });
    await world.during(world.close());
  });

  test("[P50, P52] a session's channel opens only when its outbox is empty, for the life that the relay has named", async () => {
    const { world, a } = await begin(1);
    const { frames } = watchFrames(a.cable);
    a.cable.cut();
    for (let n = 0; n < 3; n++) {
      await world.during(a.session.append({ messages: [say(`${n}`)], state: { n } }));
      a.session.doc.getMap("state").set("/direct", n);
    }
    expect((await world.during(a.client.flush({ timeoutMs: 0 }))).pending).toBe(4);
    await world.settle();
    const of = (type: string) => frames.findIndex((frame) => frame.type === type);
    const lastAck = frames.findLastIndex(({ type }) => type === "ack");
    expect(of("open-channel")).toBeGreaterThan(lastAck);
    const opened = frames.filter(({ type }) => type === "open-channel");
    const named = new Set(frames.filter(({ type }) => type === "ack").map(({ incarnation }) => incarnation));
    for (const { incarnation } of opened) expect(named).toContain(incarnation);
    expect(await world.during(a.session.state())).toEqual({ n: 2, direct: 2 });
    expect(a.client.status.pending).toBe(0);
    await world.during(world.close());
  });
});
