import { describe, expect, test } from "vitest";
import { ConnectionError, HoldfastError, ProtocolError } from "../../src/model/errors.ts";
import type { ClientFrame } from "../../src/wire/frames.ts";
import { LIMITS, type Stage, stage, welcomeOf, welcoming } from "./link-relay.ts";

const ping: ClientFrame = { type: "ping", id: 7 };

function longAppend(characters: number): ClientFrame {
  return {
    type: "append",
    opId: "op",
    session: "s",
    incarnation: null,
    base: { generation: 0, count: 0, lastId: null },
    messages: [
      {
        id: "m",
        role: "user",
        content: [{ type: "text", text: "ä".repeat(characters) }],
        createdAt: "2025-01-01T00:00:00Z",
      },
    ],
  };
}

function connectsIn(on: Stage, ms: number): Promise<number> {
  const before = on.cable.connects;
  return on.clock.advance(ms).then(() => on.cable.connects - before);
}

describe("the link's beginning", () => {
  test("[P3] says hello first, is online at the welcome, and can send from inside the online event", async () => {
    const on = stage({ token: "secret" });
    on.link.watch({ online: () => on.link.send(ping) });
    expect(on.link.status.link).toBe("offline");
    expect(on.link.send(ping)).toBe("offline");
    on.link.start();
    expect(on.link.status.link).toBe("connecting");
    await on.clock.advance(0);
    expect(on.link.status).toEqual({ link: "online", lastError: undefined });
    expect(on.visits[0]?.frames).toEqual([
      { type: "hello", protocol: 1, actorId: "ada", device: "device", token: "secret" },
      ping,
    ]);
    expect(on.link.welcome?.storeId).toBe("store");
    expect(on.log).toEqual(["status connecting", "online", "status online"]);
  });

  test("[P5] the token travels in hello and never in the URL", async () => {
    const on = stage({ token: async () => "secret" });
    const urls: string[] = [];
    const { accept } = on.network;
    on.network.accept = (socket, url) => {
      urls.push(url);
      return accept(socket, url);
    };
    on.link.start();
    await on.clock.advance(0);
    expect(urls).toEqual(["ws://relay"]);
    expect(on.visits[0]?.frames[0]).toMatchObject({ type: "hello", token: "secret" });
  });

  test("[P4] a welcome for another actor is a refusal, and ends the attempts", async () => {
    const on = stage();
    on.answer = (_frame, visit) => visit.say(welcomeOf({ actorId: "mallory" }));
    on.link.start();
    await on.clock.advance(600_000);
    expect(on.link.status.link).toBe("refused");
    expect(on.link.status.lastError?.code).toBe("auth");
    expect(on.cable.connects).toBe(1);
    expect(on.log).not.toContain("online");
  });

  test("[P6] a relay of another version is a refusal that says so", async () => {
    const on = stage();
    on.answer = (_frame, visit) => {
      visit.say({ type: "fault", code: "version", message: "This relay speaks 2", protocol: 2 });
      visit.socket.close(4409);
    };
    on.link.start();
    await on.clock.advance(600_000);
    expect(on.link.status.link).toBe("refused");
    expect(on.link.status.lastError).toMatchObject({ code: "unsupported", message: "This relay speaks 2" });
    expect(on.cable.connects).toBe(1);
  });
});

describe("tokens", () => {
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
    expect(on.visits[0]?.frames[0]).toEqual({ type: "hello", protocol: 1, actorId: "ada", device: "device" });
  });
});

describe("connections that end", () => {
  test("[C29] a relay that is away is tried for ever, never more than 30 s apart", async () => {
    const on = stage();
    on.cable.cut();
    on.link.start();
    for (let tries = 0; tries < 50; tries++) {
      expect(await connectsIn(on, 31_000)).toBeGreaterThan(0);
    }
    expect(on.link.status.link).toBe("offline");
    expect(on.link.status.lastError).toBeInstanceOf(ConnectionError);
    on.cable.heal();
    await on.clock.until(() => on.link.status.link === "online", 31_000);
    expect(on.link.status.lastError).toBeUndefined();
  });

  test("[P9] try-again is met with backoff, also when every welcome is followed by it", async () => {
    const on = stage();
    on.answer = (_frame, visit) => {
      visit.say(welcomeOf());
      visit.socket.close(1013);
    };
    on.link.start();
    await on.clock.advance(120_000);
    expect(await connectsIn(on, 60_000)).toBeLessThan(20);
  });

  test("[C32] a hundred flips of the network make at most one socket at a time", async () => {
    const on = stage();
    on.cable.delayMs = [0, 40];
    on.link.start();
    for (let flip = 0; flip < 100; flip++) {
      on.env.page.signal(flip % 2 === 0 ? "offline" : "online");
      if (flip % 2 === 0) on.cable.cut();
      else on.cable.heal();
      await on.clock.advance(flip % 7 === 0 ? 100 : 5);
    }
    on.cable.heal();
    await on.clock.advance(60_000);
    expect(on.cable.mostOpen).toBe(1);
    expect(on.link.status.link).toBe("online");
  });

  test.each(["visible", "online", "resume"] as const)(
    "[C34] a half-open connection is noticed within seconds of %s",
    async (signal) => {
      const on = stage();
      on.link.start();
      await on.clock.advance(5_000);
      on.cable.swallow();
      on.env.page.signal(signal);
      await on.clock.advance(10_300);
      expect(on.cable.connects).toBe(2);
      expect(on.link.status.link).toBe("online");
    },
  );

  test("[C34] a half-open connection is noticed within a minute without any signal", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(5_000);
    on.cable.swallow();
    await on.clock.until(() => on.cable.connects === 2);
    await on.clock.advance(0);
    expect(on.link.status.link).toBe("online");
    expect(on.log.filter((event) => event === "offline")).toHaveLength(1);
  });

  test("[P12] a quiet connection lives on pings", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(600_000);
    expect(on.cable.connects).toBe(1);
    const pings = on.visits[0]?.frames.filter(({ type }) => type === "ping") ?? [];
    expect(pings).toHaveLength(24);
    expect(new Set(pings.map((frame) => (frame.type === "ping" ? frame.id : 0))).size).toBe(24);
  });

  test("[C20] a clock set back by a day makes no connection too many, and the pings go on", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(5_000);
    on.clock.jump(-86_400_000);
    await on.clock.advance(120_000);
    on.clock.jump(2 * 86_400_000);
    await on.clock.advance(120_000);
    on.clock.jump(-86_400_000);
    expect(on.cable.connects).toBe(1);
    on.cable.swallow();
    await on.clock.until(() => on.cable.connects === 2);
    expect(on.cable.mostOpen).toBe(1);
  });

  test("[P8] a frame that cannot be read ends the connection; it is reported and retried", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(0);
    on.visits[0]?.socket.send('{"type":"surprise"}');
    await on.clock.advance(0);
    expect(on.link.status.lastError).toBeInstanceOf(ProtocolError);
    expect(on.env.reporter.reports).toContainEqual(
      expect.objectContaining({ level: "error", event: "link.broken" }),
    );
    expect(on.log.slice(-3)).toEqual(["offline", "status offline", "relay heard 4400"]);
    await on.clock.advance(1_000);
    expect(on.link.status.link).toBe("online");
    expect(on.cable.mostOpen).toBe(1);
  });

  test("[P3] a frame before the welcome is one that cannot be read", async () => {
    const on = stage();
    on.answer = (_frame, visit) => visit.say({ type: "channel-opened", channel: 1 });
    on.link.start();
    await on.clock.advance(0);
    expect(on.link.status.lastError).toBeInstanceOf(ProtocolError);
    expect(on.log).not.toContain("channel-opened");
  });

  test("[H10] a watcher that throws ends the connection, and it is made anew", async () => {
    const on = stage();
    let thrown = 0;
    on.link.watch({
      frame: () => {
        thrown += 1;
        throw new HoldfastError("No", { code: "closed" });
      },
    });
    on.link.start();
    await on.clock.advance(0);
    on.visits[0]?.say({ type: "channel-opened", channel: 1 });
    await on.clock.advance(1_000);
    expect(thrown).toBe(1);
    expect(on.link.status.link).toBe("online");
    expect(on.cable.connects).toBe(2);
  });

  test("[C32] close ends the socket once and for all, whatever comes after", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(0);
    on.link.close();
    expect(on.link.status.link).toBe("closed");
    on.link.reconnect();
    on.link.start();
    on.env.page.signal("online");
    await on.clock.advance(600_000);
    expect([on.cable.connects, on.cable.open, on.clock.waiting]).toEqual([1, 0, 0]);
    expect(on.log.slice(-3)).toEqual(["offline", "status closed", "relay heard 1000"]);
  });
});

describe("sending", () => {
  test("[P11] a frame longer than the limit travels in parts that join to it, within the limit each", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(0);
    const sizes: number[] = [];
    on.cable.watch(({ data }) => sizes.push(Buffer.byteLength(data)));
    const frame = longAppend(5_000);
    expect(on.link.send(frame)).toBe("sent");
    await on.clock.advance(0);
    const parts = on.visits[0]?.frames.filter((sent) => sent.type === "part") ?? [];
    expect(parts.length).toBeGreaterThan(2);
    expect(JSON.parse(parts.map((part) => (part.type === "part" ? part.text : "")).join(""))).toEqual(frame);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMITS.maxFrameBytes);
    on.link.send(frame);
    await on.clock.advance(0);
    const ids = on.visits[0]?.frames.flatMap((sent) => (sent.type === "part" ? [sent.id] : []));
    expect(new Set(ids).size).toBe(2);
  });

  test("[P10] what is over the limits is not sent at all, and the connection goes on", async () => {
    const on = stage();
    on.link.start();
    await on.clock.advance(0);
    expect(on.link.send(longAppend(40_000))).toBe("too-large");
    expect(on.link.sendBinary(1, new Uint8Array(LIMITS.maxFrameBytes))).toBe("too-large");
    expect(on.link.sendBinary(1, new Uint8Array(LIMITS.maxFrameBytes - 1))).toBe("sent");
    await on.clock.advance(0);
    expect(on.visits[0]?.frames).toHaveLength(1);
    expect(on.visits[0]?.binary.map(({ byteLength }) => byteLength)).toEqual([LIMITS.maxFrameBytes]);
    expect(on.link.status.link).toBe("online");
  });

  test("[P51] binary frames arrive as a channel number and its message", async () => {
    const on = stage();
    const heard: [number, Uint8Array][] = [];
    on.link.watch({ binary: (channel, message) => heard.push([channel, message]) });
    on.link.start();
    await on.clock.advance(0);
    on.visits[0]?.socket.send(Uint8Array.of(0x81, 0x01, 3, 4));
    await on.clock.advance(0);
    expect(heard).toEqual([[129, Uint8Array.of(3, 4)]]);
  });

  test("[P10] a fault that names a limit says so in the last error, and is final", async () => {
    const on = stage();
    on.answer = (frame, visit) => {
      if (frame.type === "hello") visit.say(welcomeOf());
      else {
        visit.say({
          type: "fault",
          code: "too-large",
          message: "Too large",
          limit: { name: "maxFrameBytes", max: 9 },
        });
        visit.socket.close(4413);
      }
    };
    on.link.start();
    await on.clock.advance(0);
    on.link.send(ping);
    await on.clock.advance(600_000);
    expect(on.link.status.link).toBe("refused");
    expect(on.link.status.lastError).toMatchObject({
      message: "Too large (maxFrameBytes: 9)",
      retryable: false,
    });
    expect(on.cable.connects).toBe(1);
  });
});
