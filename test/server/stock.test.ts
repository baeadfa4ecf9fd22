import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WebsocketProvider } from "y-websocket";
import { Doc } from "yjs";
import { AuthError, type Authenticator } from "../../server/authenticator.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { append, remove } from "./ops.ts";
import { type RawClient, type TestRelay, testRelay } from "./raw-client.ts";

const authenticate: Authenticator = async (token) => {
  if (token === undefined) throw new AuthError("missing");
  if (token === "old") throw new AuthError("expired");
  if (token === "barred") throw new AuthError("forbidden");
  return { actorId: token };
};

/** A WebSocket as browsers have it, wired to a relay in this process; counts how often it was made. */
function socketsTo(relay: TestRelay) {
  const made: RawClient[] = [];
  class FakeWebSocket {
    readonly OPEN = 1;
    binaryType = "arraybuffer";
    readyState = 0;
    onopen: (() => void) | undefined;
    onmessage: ((event: { data: ArrayBuffer }) => void) | undefined;
    onclose: ((event: { code: number; reason: string }) => void) | undefined;
    readonly #client: RawClient;

    constructor(url: string) {
      this.#client = relay.connect({ url });
      made.push(this.#client);
      this.#client.onBytes = (bytes) => this.onmessage?.({ data: bytes.slice().buffer });
      this.#client.onClose = (closed) => {
        setTimeout(() => {
          this.readyState = 3;
          this.onclose?.(closed);
        }, 1);
      };
      setTimeout(() => {
        this.readyState = 1;
        this.onopen?.();
      }, 1);
    }

    send(data: Uint8Array): void {
      this.#client.sayRaw(data.slice());
    }

    close(): void {
      this.#client.drop();
    }
  }
  return { made, WebSocketPolyfill: FakeWebSocket as unknown as typeof WebSocket };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function pass(relay: TestRelay, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await vi.advanceTimersByTimeAsync(Math.min(100, left));
    await relay.clock.advance(Math.min(100, left));
  }
}

async function withSession(options: Parameters<typeof testRelay>[0] = {}) {
  const relay = await testRelay(options);
  const ann = relay.connect();
  await ann.hello("ann", "ann");
  const { incarnation, head } = await ann.expect("ack", append("s", ["a"]));
  return { relay, ann, incarnation, head };
}

function provider(relay: TestRelay, room: string, params: Record<string, string>) {
  const sockets = socketsTo(relay);
  const made = new WebsocketProvider("ws://relay/y", room, new Doc(), {
    WebSocketPolyfill: sockets.WebSocketPolyfill,
    disableBc: true,
    params,
  });
  return { provider: made, doc: made.doc, made: sockets.made };
}

describe("[P54] stock y-websocket clients", () => {
  test("[P54] edit the state of a session with each other and with our own", async () => {
    const { relay, ann } = await withSession();
    const one = provider(relay, "s", { actorId: "ann" });
    const two = provider(relay, "s", { actorId: "ann" });
    await pass(relay, 500);
    expect([one.provider.synced, two.provider.synced]).toEqual([true, true]);
    one.doc.getMap("state").set("/plan", 1);
    two.doc.getMap("state").set("/title", "t");
    one.provider.awareness.setLocalStateField("name", "one");
    await pass(relay, 500);
    for (const { doc } of [one, two]) {
      expect(doc.getMap("state").toJSON()).toEqual({ "/plan": 1, "/title": "t" });
    }
    expect([...two.provider.awareness.getStates().values()]).toContainEqual({ name: "one" });
    expect(ann.of("push").map(({ entry }) => entry.stateCursor)).toEqual([1, 2]);
    for (const { provider: each } of [one, two]) each.destroy();
    expect(relay.core.size.channels).toBe(0);
  });

  test("[P54] an id that URLs do not hold is encoded", async () => {
    const { relay } = await withSession();
    const session = "a/b?c=d&é 💬";
    const client = await relay.client();
    await client.expect("ack", append(session, ["a"]));
    const stock = provider(relay, encodeURIComponent(session), { actorId: "ann" });
    await pass(relay, 500);
    expect(stock.provider.synced).toBe(true);
    stock.provider.destroy();
  });

  test("[P54] show their token with the request, or in the URL where the operator allows it", async () => {
    const { relay } = await withSession({ authenticate });
    const byHeader = relay.connect({ url: "/y/s", token: "ann" });
    const inUrl = relay.connect({ url: "/y/s?token=ann" });
    await relay.settle();
    expect(byHeader.closed).toBeUndefined();
    expect(inUrl.closed?.code).toBe(4401);
    const open = await withSession({ authenticate, tokenInUrl: true });
    const allowed = open.relay.connect({ url: "/y/s?token=ann" });
    await open.relay.settle();
    expect(allowed.closed).toBeUndefined();
  });

  test.each([
    ["no token", "/y/s", {}, 4401],
    ["an expired token", "/y/s", { token: "old" }, 4401],
    ["a forbidden token", "/y/s", { token: "barred" }, 4403],
    ["an origin that may not connect", "/y/s", { token: "ann", origin: "https://evil.example" }, 4403],
    ["a session that never was", "/y/none", { token: "ann" }, 4404],
    ["another actor's session", "/y/s", { token: "bob" }, 4404],
    ["a session that can be none", "/y/%E0%A4%A", { token: "ann" }, 4404],
    ["no session", "/y/", { token: "ann" }, 4404],
  ] as const)(
    "[C30] %s is closed with a number of its own, and nothing is sent",
    async (_, url, info, code) => {
      const { relay } = await withSession({ authenticate });
      const stock = relay.connect({ url, ...info });
      await relay.settle();
      expect(stock.closed?.code).toBe(code);
      expect([stock.bytes, stock.frames]).toEqual([[], []]);
      expect(relay.core.size).toEqual({ connections: 1, channels: 0 });
    },
  );

  test("[P28] a session that is deleted under them is closed as such, and stays so", async () => {
    const { relay, ann, incarnation } = await withSession();
    const stock = relay.connect({ url: "/y/s?actorId=ann" });
    await relay.settle();
    expect(stock.closed).toBeUndefined();
    await ann.expect("ack", remove("s", "gone", incarnation));
    expect(stock.closed?.code).toBe(4404);
    const later = relay.connect({ url: "/y/s?actorId=ann" });
    await relay.settle();
    expect(later.closed?.code).toBe(4404);
  });

  test("[P54] text, and frames over the limit, end the connection", async () => {
    const { relay } = await withSession({ limits: { maxStateBytes: 1_000 } });
    const chatty = relay.connect({ url: "/y/s?actorId=ann" });
    const large = relay.connect({ url: "/y/s?actorId=ann" });
    await relay.settle();
    chatty.sayRaw("hello");
    large.sayRaw(new Uint8Array(1_000 + 1_025));
    await relay.settle();
    expect([chatty.closed?.code, large.closed?.code]).toEqual([4400, 4413]);
  });

  test("[P5] a connection ends with its token", async () => {
    const { relay } = await withSession({
      authenticate: async () => ({ actorId: "ann", expiresAt: new Date(Date.UTC(2025, 0, 1) + 60_000) }),
    });
    const stock = relay.connect({ url: "/y/s", token: "t" });
    await relay.clock.advance(59_999);
    expect(stock.closed).toBeUndefined();
    await relay.clock.advance(1);
    expect(stock.closed?.code).toBe(4401);
  });

  test.each([
    ["a bad token", { authenticate }, {}, "s"],
    ["a session that never was", {}, { actorId: "ann" }, "none"],
    ["state over its limit", { limits: { maxStateBytes: 1_500 } }, { actorId: "ann" }, "s"],
    ["a frame over its limit", { limits: { maxStateBytes: 500 } }, { actorId: "ann" }, "s"],
  ] as const)(
    "[C30] refused for good by %s, a stock client connects once in a minute",
    async (_, options, params, room) => {
      const { relay } = await withSession(options);
      const stock = provider(relay, room, params);
      stock.doc.getMap("state").set("/big", "x".repeat(2_000));
      await pass(relay, 60_000);
      expect(stock.made.length).toBeGreaterThan(0);
      expect(stock.made.length).toBeLessThan(10);
      expect(stock.made.at(-1)?.closed?.code).toBeGreaterThanOrEqual(4400);
      stock.provider.destroy();
    },
  );

  test("[P54] after the relay was restarted a stock client comes back, and what it edited meanwhile is stored", async () => {
    const storage = memoryStorage();
    const { relay } = await withSession({ storage });
    const stock = provider(relay, "s", { actorId: "ann" });
    await pass(relay, 500);
    await relay.core.close();
    stock.doc.getMap("state").set("/offline", 1);
    await pass(relay, 500);
    expect(stock.made.at(-1)?.closed?.code).toBe(1013);
    stock.provider.destroy();
    const after = await testRelay({ storage, seed: 2 });
    const sockets = socketsTo(after);
    const again = new WebsocketProvider("ws://relay/y", "s", stock.doc, {
      WebSocketPolyfill: sockets.WebSocketPolyfill,
      disableBc: true,
      params: { actorId: "ann" },
    });
    await pass(after, 1_000);
    const other = provider(after, "s", { actorId: "ann" });
    await pass(after, 1_000);
    expect(other.doc.getMap("state").get("/offline")).toBe(1);
    for (const each of [again, other.provider]) each.destroy();
  });
});
