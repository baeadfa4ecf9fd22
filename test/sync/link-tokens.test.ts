import { describe, expect, test } from "vitest";
import { connectsIn, stage, welcomeOf, welcoming } from "./link-relay.ts";

describe("the link's tokens", () => {
  test("[C28] an expired token is asked for again at once, and the link goes on with the new one", async () => {
    let given = 0;
    const on = stage({ token: () => `token ${++given}` });
    on.answer = (frame, visit) => {
      if (frame.type === "hello" && frame.token === "token 1") {
        visit.say({ type: "fault", code: "unauthenticated", message: "The token has expired" });
        visit.socket.close(4401);
      } else welcoming(frame, visit);
    };
    on.link.start();
    await on.clock.advance(0);
    expect(on.link.status.link).toBe("online");
    expect(on.log).toContain("status needs-auth");
    expect([given, on.cable.connects]).toEqual([2, 2]);
  });

  test("[C28] forbidden is not expired: the link stops and asks nobody", async () => {
    let given = 0;
    const on = stage({ token: () => `token ${++given}` });
    on.answer = (_frame, visit) => visit.socket.close(4403, "Not allowed");
    on.link.start();
    await on.clock.advance(600_000);
    expect(on.link.status.link).toBe("refused");
    expect(on.link.status.lastError).toMatchObject({ code: "auth", message: "Not allowed" });
    expect([given, on.cable.connects]).toEqual([1, 1]);
  });

  test("[C28] reconnect after a refusal asks for a token and tries again", async () => {
    let given = 0;
    const on = stage({ token: () => `token ${++given}` });
    on.answer = (frame, visit) => {
      if (frame.type === "hello" && frame.token === "token 1") visit.socket.close(4403);
      else welcoming(frame, visit);
    };
    on.link.start();
    await on.clock.advance(1000);
    on.link.reconnect();
    await on.clock.advance(0);
    expect(on.link.status).toEqual({ link: "online", lastError: undefined });
  });

  test.each([1, 2, 3, 4, 5])(
    "[C30] tokens that are all refused make fewer than ten connections a minute (seed %i)",
    async (seed) => {
      const on = stage({ token: () => "bad", seed });
      on.answer = (_frame, visit) => visit.socket.close(4401);
      on.link.start();
      const minutes = [
        await connectsIn(on, 60_000),
        await connectsIn(on, 60_000),
        await connectsIn(on, 600_000),
      ];
      expect(on.link.status.link).toBe("needs-auth");
      expect(Math.max(...minutes.slice(0, 2))).toBeLessThan(10);
      expect(minutes[2]).toBeGreaterThan(10);
    },
  );

  test("[C28] a token source that fails is asked again, without a connection meanwhile", async () => {
    let asked = 0;
    const on = stage({
      token: () => {
        asked += 1;
        if (asked < 4) throw new Error("The login page is down");
        return "token";
      },
    });
    on.link.start();
    await on.clock.advance(0);
    expect(on.link.status.link).toBe("needs-auth");
    expect(on.link.status.lastError).toMatchObject({
      code: "auth",
      cause: new Error("The login page is down"),
    });
    on.env.page.signal("offline");
    expect(on.link.status.link).toBe("offline");
    expect(on.cable.connects).toBe(0);
    await on.clock.until(() => on.link.status.link === "online");
    expect([asked, on.cable.connects]).toEqual([4, 1]);
  });

  test("[C28] a late token of a question that was given up does not replace the newer one", async () => {
    const answers: ((token: string) => void)[] = [];
    const on = stage({ token: () => new Promise<string>((resolve) => answers.push(resolve)) });
    on.link.start();
    await on.clock.until(() => answers.length === 2);
    answers[1]?.("new");
    answers[0]?.("old");
    await on.clock.advance(0);
    expect(on.visits[0]?.frames[0]).toMatchObject({ token: "new" });
    expect(on.cable.connects).toBe(1);
  });

  test("[P5] a token that ends is replaced on the open connection before it does", async () => {
    let given = 0;
    const on = stage({ token: () => `token ${++given}` });
    on.answer = (frame, visit) => {
      if (frame.type === "hello") {
        visit.say(welcomeOf({ expiresAt: new Date(on.clock.now() + 600_000).toISOString() }));
      } else welcoming(frame, visit);
    };
    on.link.start();
    await on.clock.advance(500_000);
    expect(given).toBe(1);
    await on.clock.advance(90_000);
    expect(on.visits[0]?.frames.filter(({ type }) => type === "reauthenticate")).toEqual([
      { type: "reauthenticate", token: "token 2" },
    ]);
    expect(on.cable.connects).toBe(1);
  });

  test("[P5] no token source: hello carries no token", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(0);
    expect(on.visits[0]?.frames[0]).toEqual({
      type: "hello",
      protocol: 1,
      actorId: "ada",
      device: "device",
      streams: true,
    });
  });
});
