import { afterEach, describe, expect, test } from "vitest";
import { Awareness } from "y-protocols/awareness";
import { Doc } from "yjs";
import { AuthError } from "../../server/authenticator.ts";
import { localBus } from "../../server/bus/local.ts";
import { DEFAULT_LIMITS } from "../../server/limits.ts";
import { RelayCore, type RelayCoreOptions } from "../../server/relay-core.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { Link, type LinkOptions } from "../../src/sync/link.ts";
import { LinkChannels } from "../../src/sync/link-channels.ts";
import type { LinkFrame } from "../../src/sync/link-events.ts";
import { Requests } from "../../src/sync/requests.ts";
import { StateChannel } from "../../src/sync/state-channel.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestNetwork } from "../../src/testing/network.ts";
import { seededRandom } from "../../src/testing/random.ts";
import type { ClientFrame } from "../../src/wire/client-frames.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0).reverse()) clean();
});

/** The relay as it is, over the network that a test moves. */
async function world(options: Partial<RelayCoreOptions> = {}) {
  const clock = new TestClock();
  const storage = memoryStorage();
  const environment = testEnvironment({ clock, seed: 99 });
  const start = (): Promise<RelayCore> =>
    RelayCore.open({ environment, storage, bus: localBus(), limits: DEFAULT_LIMITS, ...options });
  let core = await start();
  const network = new TestNetwork({
    clock,
    random: seededRandom(3),
    accept: (socket, url) => core.accept(socket, { url }),
  });
  const restart = async (): Promise<void> => {
    const closing = core.close();
    await clock.advance(10_000);
    await closing;
    core = await start();
  };
  let devices = 0;
  const device = (given: Partial<LinkOptions> = {}) => {
    devices += 1;
    const cable = network.cable();
    const env = testEnvironment({ clock, sockets: cable, seed: devices });
    const frames: LinkFrame[] = [];
    const link = new Link({
      url: "ws://relay/",
      actorId: "ada",
      device: `device ${devices}`,
      env,
      events: { frame: (frame) => frames.push(frame) },
      ...given,
    });
    const channels = new LinkChannels(link);
    const requests = new Requests(link);
    cleanups.push(() => link.close());
    link.start();
    return { link, channels, requests, frames, cable, env };
  };
  return { clock, network, device, restart };
}

type World = Awaited<ReturnType<typeof world>>;
type Device = ReturnType<World["device"]>;

const begin: ClientFrame = {
  type: "append",
  opId: "op-1",
  session: "s",
  incarnation: null,
  base: { generation: 0, count: 0, lastId: null },
  messages: [
    {
      id: "m-1",
      role: "user",
      content: [{ type: "text", text: "hello" }],
      metadata: {},
      createdAt: "2025-01-01T00:00:00.000Z",
    },
  ],
};

async function created(on: World, device: Device): Promise<string> {
  device.link.send(begin);
  await on.clock.advance(100);
  const ack = device.frames.find((frame) => frame.type === "ack");
  if (ack?.type !== "ack") throw new Error(`no acknowledgement among ${JSON.stringify(device.frames)}`);
  return ack.incarnation;
}

function stateOn({ channels }: Device, incarnation: string) {
  const doc = new Doc();
  const awareness = new Awareness(doc);
  awareness.setLocalState(null);
  let position = 0;
  const durable: number[] = [];
  const closed: string[] = [];
  doc.on("update", (_update: Uint8Array, origin: unknown) => {
    if (origin !== channel.origin) position += 1;
  });
  const channel: StateChannel = new StateChannel({
    doc,
    awareness,
    session: "s",
    incarnation,
    channels,
    position: () => position,
    onDurable: (reached) => durable.push(reached),
    onClosed: (code) => closed.push(code),
  });
  cleanups.push(() => {
    channel.destroy();
    awareness.destroy();
  });
  const set = (at: string, value: unknown): void => void doc.getMap("state").set(at, value);
  return { doc, channel, durable, closed, set, seen: () => doc.getMap("state").toJSON() };
}

describe("link and relay", () => {
  test("[P52] state meets on two devices, and each is told of the durability of its own", async () => {
    const on = await world();
    const [a, b] = [on.device(), on.device()];
    await on.clock.advance(100);
    const incarnation = await created(on, a);
    const [one, two] = [stateOn(a, incarnation), stateOn(b, incarnation)];
    one.set("/before", 1);
    one.channel.connect();
    two.channel.connect();
    await on.clock.advance(100);
    expect(two.seen()).toEqual({ "/before": 1 });
    expect([one.durable.at(-1), two.durable.at(-1)]).toEqual([1, 0]);
    one.set("/one", 1);
    two.set("/two", 2);
    await on.clock.advance(100);
    const all = { "/before": 1, "/one": 1, "/two": 2 };
    expect([one.seen(), two.seen()]).toEqual([all, all]);
    expect([one.durable.at(-1), two.durable.at(-1)]).toEqual([2, 1]);
  });

  test("[C5] after a restart of the relay everyone is back, and what was changed meanwhile becomes durable", async () => {
    const on = await world();
    const [a, b] = [on.device(), on.device()];
    await on.clock.advance(100);
    const incarnation = await created(on, a);
    const [one, two] = [stateOn(a, incarnation), stateOn(b, incarnation)];
    one.channel.connect();
    two.channel.connect();
    await on.clock.advance(100);
    one.set("/a", 1);
    await on.clock.advance(100);
    await on.restart();
    one.set("/b", 2);
    two.set("/c", 3);
    await on.clock.until(() => a.link.status.link === "online" && b.link.status.link === "online");
    one.channel.connect();
    two.channel.connect();
    await on.clock.advance(100);
    const all = { "/a": 1, "/b": 2, "/c": 3 };
    expect([one.seen(), two.seen()]).toEqual([all, all]);
    expect([one.durable.at(-1), two.durable.at(-1)]).toEqual([2, 1]);
    expect(a.cable.mostOpen).toBe(1);
  });

  test("[C15] an op that arrives twice is acknowledged twice, applied once", async () => {
    const on = await world();
    const a = on.device();
    await on.clock.advance(100);
    a.cable.duplicateOps = 1;
    await created(on, a);
    expect(a.frames).toMatchObject([
      { type: "ack", outcome: "applied", head: { count: 1 } },
      { type: "ack", outcome: "known", head: { count: 1 } },
    ]);
  });

  test("[P11] a long op travels in parts and commits once", async () => {
    const on = await world({ limits: { ...DEFAULT_LIMITS, maxFrameBytes: 2_000 } });
    const a = on.device();
    await on.clock.advance(100);
    const messages = [{ ...begin.messages[0], content: [{ type: "text", text: "ä€😀".repeat(2_000) }] }];
    expect(a.link.send({ ...begin, messages } as ClientFrame)).toBe("sent");
    await on.clock.advance(100);
    expect(a.frames).toMatchObject([{ type: "ack", outcome: "applied" }]);
    expect(a.link.status.link).toBe("online");
  });

  test("[P34] requests find their answers", async () => {
    const on = await world();
    const a = on.device();
    await on.clock.advance(100);
    const incarnation = await created(on, a);
    const listing = a.requests.ask({ type: "list-generations", session: "s", incarnation });
    const missing = a.requests.ask({ type: "list-generations", session: "nowhere", incarnation });
    const refused = expect(missing).rejects.toMatchObject({ code: "rejected", reason: "unknown-session" });
    await on.clock.advance(100);
    expect((await listing).generations).toMatchObject([{ generation: 0, count: 1 }]);
    await refused;
  });

  test("[P50] a channel for a life that is over is closed as deleted", async () => {
    const on = await world();
    const a = on.device();
    await on.clock.advance(100);
    await created(on, a);
    const state = stateOn(a, "another life");
    state.channel.connect();
    await on.clock.advance(100);
    expect([state.closed, state.channel.phase]).toEqual([["deleted"], "closed"]);
    expect(a.link.status.link).toBe("online");
  });

  test("[P12] a quiet connection outlives an hour on pings", async () => {
    const on = await world();
    const a = on.device();
    await on.clock.advance(3_600_000);
    expect([a.link.status.link, a.cable.connects]).toEqual(["online", 1]);
  });
});

describe("link and a relay that checks tokens", () => {
  const hour = 3_600_000;
  const checking =
    (clock: () => TestClock): RelayCoreOptions["authenticate"] =>
    async (token) => {
      const match = /^good until (\d+)$/.exec(token ?? "");
      if (token === "forbidden") throw new AuthError("forbidden");
      const until = Number(match?.[1]);
      if (match === null || until <= clock().now()) throw new AuthError("expired");
      return { actorId: "ada", expiresAt: new Date(until) };
    };

  async function checked(): Promise<World> {
    const late: { clock?: TestClock } = {};
    const on = await world({
      authenticate: checking(() => late.clock ?? new TestClock()),
    });
    late.clock = on.clock;
    return on;
  }

  test("[P5] tokens of an hour are replaced on one connection for a whole day", async () => {
    const on = await checked();
    let given = 0;
    const a = on.device({
      token: () => {
        given += 1;
        return `good until ${on.clock.now() + hour}`;
      },
    });
    await on.clock.advance(24 * hour);
    expect([a.link.status.link, a.cable.connects]).toEqual(["online", 1]);
    expect(given).toBeGreaterThanOrEqual(24);
    expect(given).toBeLessThan(30);
  });

  test("[C28] a token that ends ends the connection in band; with a fresh one the link is back at once", async () => {
    const on = await checked();
    let asked = 0;
    const a = on.device({
      token: () => {
        asked += 1;
        // The question ahead of time finds nobody at home.
        if (asked === 2) throw new Error("not now");
        return `good until ${on.clock.now() + hour}`;
      },
    });
    await on.clock.advance(hour - 1);
    expect([a.link.status.link, asked]).toEqual(["online", 2]);
    await on.clock.advance(100);
    expect([a.link.status.link, asked, a.cable.connects]).toEqual(["online", 3, 2]);
  });

  test.each([
    ["forbidden", "refused"],
    ["nonsense", "needs-auth"],
  ])("[C30] the token %s leads to %s, in fewer than ten connections a minute", async (token, link) => {
    const on = await checked();
    const a = on.device({ token });
    await on.clock.advance(60_000);
    expect(a.link.status.link).toBe(link);
    expect(a.link.status.lastError?.code).toBe("auth");
    expect(a.cable.connects).toBeLessThan(10);
  });

  test("[P4] a good token of another actor than the database's is a refusal", async () => {
    const on = await checked();
    const a = on.device({ actorId: "bob", token: () => `good until ${on.clock.now() + hour}` });
    await on.clock.advance(60_000);
    expect([a.link.status.link, a.cable.connects]).toEqual(["refused", 1]);
  });
});
