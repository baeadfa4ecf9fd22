import { describe, expect, test } from "vitest";
import { AuthError } from "../../server/authenticator.ts";
import { ConflictError, RejectedError } from "../../src/model/errors.ts";
import { begin, openTab, replaceRelay, say, textsIn, watchFrames } from "./setting.ts";

const LIMITS = { maxMessageBytes: 2_000, maxFrameBytes: 4_000, maxOpBytes: 16_000, maxMetadataBytes: 500 };

describe("refusals", () => {
  test("[C27, H10] what became too large is parked with its reason; its session and others flow", async () => {
    const { world, a } = await begin(1);
    a.cable.cut();
    a.session.messages.subscribe(() => {});
    await world.clock.advance(100);
    const other = a.client.session("other");
    // Written while nothing was known of these limits.
    await a.session.append({ messages: [say("before")] });
    await a.session.append({ messages: [say("x".repeat(3_000))] });
    await a.session.append({ messages: [say("behind")] });
    await other.append({ messages: [say("elsewhere")] });
    await a.client.sessions.rename("other", "t".repeat(600));
    const relay = await replaceRelay(world, { limits: LIMITS });
    a.cable.heal();
    await world.clock.advance(60_000);
    expect(a.client.status).toMatchObject({ pending: 0, rejected: 2, link: "online" });
    expect(await world.during(textsIn(a.session))).toEqual(["before", "behind"]);
    expect(await world.during(textsIn(other))).toEqual(["elsewhere"]);
    const rejected = await a.client.rejected.list();
    expect(rejected.map(({ reason, kind, sessionId }) => ({ reason, kind, sessionId }))).toEqual([
      { reason: "too-large", kind: "append", sessionId: "talk" },
      { reason: "too-large", kind: "edit", sessionId: "other" },
    ]);
    expect(rejected[0]?.messages.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "x".repeat(3_000) }],
    ]);
    expect(a.session.messages.entries.map(({ delivery }) => delivery)).toEqual([
      "confirmed",
      "confirmed",
      "rejected",
    ]);
    const connects = a.cable.connects;
    await world.clock.advance(600_000);
    expect(a.cable.connects).toBe(connects);
    await world.during(world.close());
    await relay.close();
  });

  test("[C27, C49, H9] limits once learned are refused at the call, after a reload without a network too, and in every tab", async () => {
    const { world, a } = await begin(1);
    const relay = await replaceRelay(world, { limits: LIMITS });
    await world.clock.advance(2_000);
    const tooLarge = async (): Promise<void> => {
      const before = await world.during(a.session.load());
      const writes = [
        () => a.session.append({ messages: [say("x".repeat(2_000))] }),
        () => a.session.append({ messages: Array.from({ length: 20 }, () => say("x".repeat(900))) }),
        () => a.session.checkpoint({ messages: [say("x".repeat(2_000))] }),
        () => a.session.replace({ messages: [say("x".repeat(2_000))] }),
        () => a.session.append({ messages: [], metadata: { m: "x".repeat(500) } }),
        () => a.client.sessions.rename("talk", "x".repeat(500)),
      ];
      for (const [index, write] of writes.entries()) {
        const refused = await world.during(write().catch((error: unknown) => error));
        expect(refused, `write ${index}`).toBeInstanceOf(RejectedError);
        expect(refused, `write ${index}`).toMatchObject({ reason: "too-large" });
      }
      expect(await world.during(a.session.load())).toEqual(before);
    };
    await world.during(a.session.append({ messages: [say("fits")] }, { until: "confirmed" }));
    await tooLarge();
    a.cable.cut();
    await world.during(a.reload());
    await tooLarge();
    await world.during(world.close());
    await relay.close();
  });

  test("[C49, P11] an op larger than a frame travels in parts and lands once", async () => {
    const { world, a, b } = await begin(2);
    const relay = await replaceRelay(world, { limits: { ...LIMITS, maxMessageBytes: 10_000 } });
    await world.clock.advance(2_000);
    const { frames } = watchFrames(a.cable);
    const messages = Array.from({ length: 3 }, (_, n) => say(`${n}`.repeat(4_000)));
    await world.during(a.session.append({ messages }, { until: "confirmed" }));
    await world.clock.advance(1_000);
    expect(frames.filter(({ type }) => type === "part").length).toBeGreaterThan(3);
    expect((await world.during(b.session.history())).map(({ id }) => id)).toEqual(
      messages.map(({ id }) => id),
    );
    // Cut in the middle of the parts: begun anew, and still one effect.
    let parts = 0;
    const stop = a.cable.watch(({ data }) => {
      if (typeof data === "string" && data.includes('"part"') && ++parts === 2) a.cable.drop();
    });
    await world.during(a.session.append({ messages: [say("y".repeat(9_000))] }));
    await world.clock.advance(10_000);
    stop();
    expect(parts).toBeGreaterThan(2);
    expect(a.client.status).toMatchObject({ pending: 0, rejected: 0 });
    expect(await world.during(textsIn(b.session))).toHaveLength(4);
    await world.during(world.close());
    await relay.close();
  });

  test("[C28, P5] an expired token is asked for again and nothing is lost; forbidden stops and says so", async () => {
    const { world } = await begin(1);
    const valid = new Set<string>();
    const relay = await replaceRelay(world, {
      authenticate: async (token) => {
        if (token === "forbidden") throw new AuthError("forbidden");
        if (token === undefined || !valid.has(token)) throw new AuthError("expired");
        return { actorId: "ada" };
      },
    });
    let token = "old";
    let asked = 0;
    const tab = await openTab(world, {
      options: {
        token: () => {
          asked += 1;
          return token;
        },
      },
    });
    await tab.session.append({ messages: [say("kept")] });
    await world.clock.advance(5_000);
    expect(tab.client.status).toMatchObject({ link: "needs-auth", pending: 1 });
    const before = asked;
    token = "new";
    valid.add("new");
    await world.clock.advance(60_000);
    expect(asked).toBeGreaterThan(before);
    expect(tab.client.status).toMatchObject({ link: "online", pending: 0 });
    token = "forbidden";
    valid.clear();
    tab.cable.drop();
    await world.during(tab.session.append({ messages: [say("waits")] }));
    await world.clock.advance(10_000);
    expect(tab.client.status).toMatchObject({ link: "refused", pending: 1, rejected: 0 });
    expect(tab.client.status.lastError).toMatchObject({ code: expect.any(String) });
    const connects = tab.cable.connects;
    await world.clock.advance(3_600_000);
    expect(tab.cable.connects).toBe(connects);
    token = "new";
    valid.add("new");
    tab.client.reconnect();
    await world.clock.advance(5_000);
    expect(tab.client.status).toMatchObject({ link: "online", pending: 0 });
    expect(await textsIn(tab.session)).toEqual(["kept", "waits"]);
    await world.during(Promise.all([tab.client.close(), world.close()]));
    await relay.close();
  });

  test("[C36] the token is refreshed with a hundred appends queued: all arrive once, in order", async () => {
    const { world } = await begin(1);
    let issued = 0;
    const relay = await replaceRelay(world, {
      authenticate: async (token) => {
        const endsAt = Number(token);
        if (!(endsAt > world.clock.now())) throw new AuthError("expired");
        return { actorId: "ada", expiresAt: new Date(endsAt) };
      },
    });
    const tab = await openTab(world, {
      options: {
        token: () => {
          issued += 1;
          return String(world.clock.now() + 2_000);
        },
      },
    });
    await world.clock.advance(500);
    tab.cable.delayMs = [5, 120];
    const texts = Array.from({ length: 100 }, (_, n) => `m${n}`);
    for (const text of texts) await world.during(tab.session.append({ messages: [say(text)] }));
    for (let waited = 0; waited < 60 && tab.client.status.pending > 0; waited++) {
      await world.clock.advance(1_000);
      if (waited === 1) tab.cable.drop();
    }
    expect(issued).toBeGreaterThan(1);
    expect(tab.client.status).toMatchObject({ pending: 0, rejected: 0 });
    expect((await world.generations()).at(-1)?.messages.map(({ text }) => text)).toEqual(texts);
    await world.during(Promise.all([tab.client.close(), world.close()]));
    await relay.close();
  });

  test("[H8, P4] a welcome for another actor is refused: nothing is sent, nothing is shown", async () => {
    const { world } = await begin(1);
    const relay = await replaceRelay(world, { authenticate: async () => ({ actorId: "bob" }) });
    const tab = await openTab(world, { options: { token: "bob's" } });
    await tab.session.append({ messages: [say("ada's secret")] });
    const { frames } = watchFrames(tab.cable);
    await world.clock.advance(60_000);
    expect(tab.client.status).toMatchObject({ link: "refused", pending: 1 });
    expect(JSON.stringify(frames)).not.toContain("secret");
    await world.during(Promise.all([tab.client.close(), world.close()]));
    await relay.close();
  });

  test("[H8, C41] one browser, two actors: neither sees a row of the other", async () => {
    const { world, a } = await begin(1);
    await world.during(a.session.append({ messages: [say("ada's")] }, { until: "confirmed" }));
    const bob = await openTab(world, { options: { actorId: "bob" } });
    await world.clock.advance(1_000);
    expect(await world.during(bob.session.load())).toBeUndefined();
    expect((await bob.client.sessions.list()).entries).toEqual([]);
    await world.during(bob.session.append({ messages: [say("bob's")] }, { until: "confirmed" }));
    expect(await world.during(textsIn(bob.session))).toEqual(["bob's"]);
    expect(await world.during(textsIn(a.session))).toEqual(["ada's"]);
    await world.during(Promise.all([bob.client.close(), world.close()]));
  });

  test("[H10, C19] a rejected op is listed, retried, or discarded, and never lost otherwise", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("base")] }, { until: "confirmed" }));
    await world.clock.advance(1_000);
    a.cable.cut();
    const waiting = a.session.append(
      { messages: [say("mine")], state: { mine: true } },
      { onConflict: "reject", until: "confirmed" },
    );
    const also = a.session.append({ messages: [say("also")] }, { onConflict: "reject" });
    await world.during(also);
    await world.during(b.session.append({ messages: [say("theirs")] }, { until: "confirmed" }));
    const refused = waiting.catch((error: unknown) => error);
    await world.settle();
    const error = await refused;
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({
      expected: { generation: 0, count: 1 },
      actual: { generation: 0, count: 2 },
    });
    const listed = await a.client.rejected.list();
    expect(listed.map(({ reason, messages }) => [reason, messages.length])).toEqual([
      ["conflict", 1],
      ["conflict", 1],
    ]);
    expect(a.client.status.rejected).toBe(2);
    expect(await world.during(a.session.state())).toEqual({});
    await world.during(a.reload());
    expect(await a.client.rejected.list()).toEqual(listed);
    expect(a.client.status.rejected).toBe(2);
    const [first, second] = listed;
    await a.client.rejected.retry(first?.opId ?? "");
    await a.client.rejected.discard(second?.opId ?? "");
    await expect(a.client.rejected.retry(first?.opId ?? "")).rejects.toMatchObject({ code: "invalid-input" });
    await expect(a.client.rejected.discard(second?.opId ?? "")).rejects.toMatchObject({ path: "opId" });
    await world.settle();
    expect(a.client.status).toMatchObject({ pending: 0, rejected: 0 });
    expect(await world.during(textsIn(b.session))).toEqual(["base", "theirs", "mine"]);
    expect(await world.during(b.session.state())).toEqual({ mine: true });
    await world.during(world.close());
  });
});
