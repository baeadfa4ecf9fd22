import { describe, expect, test } from "vitest";
import type { ClientFrame } from "../../src/wire/client-frames.ts";
import { LIMITS, stage, welcomeOf } from "./link-relay.ts";

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
      { type: "hello", protocol: 1, actorId: "ada", device: "device", streams: true, token: "secret" },
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
    expect(on.link.sendBinary(1, new Uint8Array(LIMITS.maxStateBytes + 513))).toBe("too-large");
    expect(on.link.sendBinary(1, new Uint8Array(LIMITS.maxStateBytes + 512))).toBe("sent");
    await on.clock.advance(0);
    expect(on.visits[0]?.frames).toHaveLength(1);
    expect(on.visits[0]?.binary.map(({ byteLength }) => byteLength)).toEqual([LIMITS.maxStateBytes + 513]);
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
