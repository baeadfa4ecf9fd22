import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/model/errors.ts";
import { createMessage, textOf } from "../../src/model/message.ts";
import { begin, rowsOf, say, textsIn, watchFrames } from "../client/setting.ts";

/** The same session with a relay, without one, and after a reload without one. */
const SETTINGS = {
  online: async () => begin(1),
  offline: async () => {
    const set = await begin(1);
    set.a.cable.cut();
    await set.world.clock.advance(10_000);
    return set;
  },
};

for (const [where, setting] of Object.entries(SETTINGS)) {
  describe(`a synced session, ${where}`, () => {
    test(`[S3] history (${where}): stored messages win, even none; the fallback serves a session that does not exist`, async () => {
      const { world, a } = await setting();
      const fallback = [say("fallback")];
      expect((await world.during(a.session.history({ fallback }))).map(textOf)).toEqual(["fallback"]);
      expect(await world.during(a.session.history())).toEqual([]);
      await world.during(a.client.sessions.create("talk"));
      expect(await world.during(a.session.history({ fallback }))).toEqual([]);
      await world.during(a.session.append({ messages: [say("stored")] }));
      expect((await world.during(a.session.history({ fallback }))).map(textOf)).toEqual(["stored"]);
      await world.during(world.close());
    });

    test(`[S4, D4] state (${where}) is a fresh mutable copy, metadata frozen; stored metadata wins over what the session was opened with`, async () => {
      const { world, a } = await setting();
      const session = a.client.session("s4", { metadata: { title: "first", deep: { kept: true } } });
      expect(await world.during(session.state())).toEqual({});
      expect(await world.during(session.metadata())).toEqual({ title: "first", deep: { kept: true } });
      await world.during(session.append({ messages: [say("x")], state: { list: [1] } }));
      const state = await world.during(session.state());
      (state.list as number[]).push(2);
      expect(await world.during(session.state())).toEqual({ list: [1] });
      const snapshot = await world.during(session.load());
      expect(() => ((snapshot?.state.list as number[]) ?? []).push(9)).toThrow(TypeError);
      expect(await world.during(session.state())).toEqual({ list: [1] });
      const metadata = await world.during(session.metadata());
      expect(metadata).toEqual({ title: "first", deep: { kept: true } });
      expect(Object.isFrozen(metadata)).toBe(true);
      const other = a.client.session("s4", { metadata: { title: "second" } });
      expect(await world.during(other.metadata())).toEqual({ title: "first", deep: { kept: true } });
      await world.during(other.append({ messages: [say("y")] }));
      expect(await world.during(session.metadata())).toEqual({ title: "first", deep: { kept: true } });
      await world.during(world.close());
    });

    test(`[S6] replace (${where}) writes the whole snapshot; state and metadata left out stay`, async () => {
      const { world, a } = await setting();
      await world.during(
        a.session.append({ messages: [say("1"), say("2")], state: { n: 1 }, metadata: { t: 1 } }),
      );
      const { revision } = await world.during(a.session.replace({ messages: [say("3")] }));
      expect(revision).toEqual({ generation: 1, count: 1 });
      expect(await world.during(a.session.state())).toEqual({ n: 1 });
      expect(await world.during(a.session.metadata())).toEqual({ t: 1 });
      await world.during(a.session.replace({ messages: [], state: { m: 2 }, metadata: {} }));
      const snapshot = await world.during(a.session.load());
      expect(snapshot).toMatchObject({ messages: [], state: { m: 2 }, metadata: {} });
      expect(snapshot?.revision).toEqual({ generation: 2, count: 0 });
      await world.during(world.close());
    });

    test(`[S7, M8] checkpoint (${where}): append of the rest, nothing, only state or metadata, or replace; twenty times writes once`, async () => {
      const { world, a } = await setting();
      const one = { role: "user", content: "1" } as const;
      const two = { role: "assistant", content: "2" } as const;
      const revisions: unknown[] = [];
      const checkpoint = async (write: Parameters<typeof a.session.checkpoint>[0]) => {
        revisions.push((await world.during(a.session.checkpoint(write))).revision);
      };
      await checkpoint({ messages: [one] });
      for (let times = 0; times < 20; times++) await checkpoint({ messages: [one, two], state: { n: 1 } });
      expect(new Set(revisions.slice(1).map((revision) => JSON.stringify(revision))).size).toBe(1);
      const before = await rowsOf(a.database);
      await checkpoint({ messages: [one, two], state: { n: 1 }, metadata: {} });
      expect((await rowsOf(a.database)).outbox).toEqual(before.outbox);
      await checkpoint({ messages: [one, two], state: { n: 2 } });
      await checkpoint({ messages: [one, two], metadata: { title: "t" } });
      await checkpoint({ messages: [one] });
      await checkpoint({ messages: [two, one] });
      expect(revisions.slice(-5)).toEqual([
        { generation: 0, count: 2 },
        { generation: 0, count: 2 },
        { generation: 0, count: 2 },
        { generation: 1, count: 1 },
        { generation: 2, count: 2 },
      ]);
      const snapshot = await world.during(a.session.load());
      expect(snapshot).toMatchObject({ state: { n: 2 }, metadata: { title: "t" } });
      await world.settle();
      expect((await world.during(a.session.load()))?.revision).toEqual({ generation: 2, count: 2 });
      await world.during(world.close());
    });

    test(`[S8] checkpointResult (${where}) keeps the stored metadata`, async () => {
      const { world, a } = await setting();
      await world.during(a.session.append({ messages: [say("x")], metadata: { title: "kept" } }));
      const messages = [...(await a.session.history()), say("y")];
      await world.during(a.session.checkpointResult({ messages, state: { done: true } }));
      expect(await world.during(a.session.load())).toMatchObject({
        metadata: { title: "kept" },
        state: { done: true },
        revision: { generation: 0, count: 2 },
      });
      await world.during(world.close());
    });

    test(`[D4, S9] what a caller passed (${where}) and changes afterwards is stored as it was at the call`, async () => {
      const { world, a } = await setting();
      for (const kind of ["append", "checkpoint", "replace"] as const) {
        const content = [{ type: "text" as const, text: `${kind} as given` }];
        const messages = [{ role: "user" as const, content }];
        const state = { list: ["given"] };
        const work = a.session[kind]({ messages, state });
        Object.assign(content[0] ?? {}, { text: "changed" });
        messages.push({ role: "user", content: [{ type: "text", text: "late" }] });
        state.list.push("late");
        await world.during(work);
        expect((await world.during(textsIn(a.session))).at(-1)).toBe(`${kind} as given`);
        expect(await world.during(a.session.state())).toEqual({ list: ["given"] });
      }
      await world.during(world.close());
    });

    test(`[S13] synchronize (${where}) runs one piece of work at a time, also over two session objects; a failing one lets the next run`, async () => {
      const { world, a } = await setting();
      const twin = a.client.session("talk");
      const other = a.client.session("other");
      const log: string[] = [];
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const first = a.session.synchronize(async () => {
        log.push("first begins");
        await held;
        log.push("first ends");
        throw new HoldfastError("on purpose", { code: "aborted" });
      });
      const failed = expect(first).rejects.toMatchObject({ code: "aborted" });
      const second = twin.synchronize(async () => log.push("second"));
      await other.synchronize(async () => log.push("other"));
      release();
      await failed;
      await second;
      expect(log).toEqual(["first begins", "other", "first ends", "second"]);
      await world.during(world.close());
    });

    test(`[H1, C22] calls that are not awaited (${where}) commit in their order, whatever each has to read first`, async () => {
      const { world, a } = await setting();
      await world.during(a.session.append({ messages: [say("0")], state: { n: 0 } }));
      await world.during(a.session.state());
      const works: Promise<unknown>[] = [];
      for (let n = 1; n <= 30; n++) {
        const messages = [say(`${n}`)];
        if (n % 3 === 0) works.push(a.session.append({ messages }));
        else if (n % 3 === 1) works.push(a.session.append({ messages, state: { n } }));
        else works.push(a.session.append({ messages, metadata: { n } }));
        if (n === 15) works.push(a.client.sessions.rename("talk", "in between"));
      }
      await world.during(Promise.all(works));
      const expected = Array.from({ length: 31 }, (_, n) => `${n}`);
      expect(await world.during(textsIn(a.session))).toEqual(expected);
      await world.settle();
      expect((await world.generations()).at(-1)?.messages.map(({ text }) => text)).toEqual(expected);
      await world.during(world.close());
    });

    test(`[S10] references to artifacts of the run (${where}) are made unusable, other metadata stays`, async () => {
      const { world, a } = await setting();
      const given = createMessage({
        role: "assistant",
        content: "see a:1 and a:12",
        metadata: { holdfastArtifacts: [{ reference: "a:1" }, { reference: "a:12" }], kept: 1 },
      });
      await world.during(a.session.checkpoint({ messages: [given] }));
      const [stored] = await world.during(a.session.history());
      expect(stored?.metadata).toEqual({ kept: 1 });
      expect(stored === undefined ? "" : textOf(stored)).toBe(
        "see [artifact unavailable after run] and [artifact unavailable after run]",
      );
      await world.during(world.close());
    });
  });
}

test("[P13, S7] a checkpoint that is still pending is the base of the next one", async () => {
  const { world, a } = await begin(1);
  a.cable.cut();
  const { frames } = watchFrames(a.cable);
  let history: readonly { role: "user"; content: string }[] = [];
  for (let n = 0; n < 5; n++) {
    history = [...history, { role: "user", content: `${n}` }];
    await world.during(a.session.checkpoint({ messages: history }));
  }
  await world.settle();
  const sent = frames.filter(({ type, direction }) => direction === "up" && type === "append");
  expect(new Set(sent.map(({ opId }) => opId)).size).toBe(5);
  expect(frames.some(({ type }) => type === "replace")).toBe(false);
  expect((await world.generations()).at(-1)?.messages).toHaveLength(5);
  await world.during(world.close());
});
