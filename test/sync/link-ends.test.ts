import { describe, expect, test } from "vitest";
import { ConnectionError, HoldfastError, ProtocolError } from "../../src/model/errors.ts";
import { connectsIn, stage, type Visit, welcomeOf, welcoming } from "./link-relay.ts";

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

describe("something else answers where the relay was", () => {
  const page = "<!DOCTYPE html><html><body>Please sign in to this network</body></html>";
  test.each([
    ["a portal that lets the socket open and talks of itself", (visit: Visit) => visit.socket.send(page)],
    ["one that sends bytes nobody asked for", (visit: Visit) => visit.socket.send(Uint8Array.of(0x16, 3, 1))],
    ["one that accepts and closes at once", (visit: Visit) => visit.socket.close(1000)],
    ["a relay that welcomes and dies", dies],
  ] as const)(
    "[C30] %s: a minute sees few connections, the status is honest, and the relay is found again",
    async (_, answer) => {
      for (let seed = 1; seed <= 20; seed++) {
        const on = stage({ seed });
        on.answer = (_frame, visit) => answer(visit);
        on.link.start();
        expect(await connectsIn(on, 60_000)).toBeLessThan(20);
        expect(on.link.status.link).not.toBe("online");
        expect(on.link.status.lastError).toBeDefined();
        expect(on.cable.mostOpen).toBe(1);
        on.answer = welcoming;
        await on.clock.advance(31_000);
        expect(on.link.status).toEqual({ link: "online", lastError: undefined });
        on.link.close();
      }
    },
  );

  function dies(visit: Visit): void {
    visit.say(welcomeOf());
    visit.socket.close(1006);
  }
});

test("[C32] a hundred flips of the network: at most one socket, and the late end of an old one ends nothing", async () => {
  const on = stage();
  on.link.start();
  on.cable.delayMs = [0, 400];
  for (let flip = 0; flip < 100; flip++) {
    on.cable.cut(flip % 3 === 0 ? { silently: true } : {});
    on.env.page.signal("offline");
    await on.clock.advance((flip * 137) % 900);
    on.cable.heal();
    on.env.page.signal("online");
    await on.clock.advance((flip * 71) % 700);
  }
  await on.clock.advance(60_000);
  expect(on.link.status.link).toBe("online");
  expect([on.cable.mostOpen, on.cable.open]).toEqual([1, 1]);
  const connects = on.cable.connects;
  await on.clock.advance(60_000);
  expect(on.cable.connects).toBe(connects);
  on.link.close();
});
