import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import { Doc } from "yjs";
import { AuthError } from "../../server/authenticator.ts";
import { createRelay, type Relay } from "../../server/relay.ts";
import type { RelayOptions } from "../../server/relay-options.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { silentReporter } from "../../src/env/reporter.ts";
import { append, EMPTY, message, pull } from "./ops.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function relayWith(options: RelayOptions = {}): Promise<Relay> {
  const relay = await createRelay({ port: 0, storage: memoryStorage(), logger: silentReporter, ...options });
  open.push(() => relay.close());
  return relay;
}

/** A real socket, and what came over it. */
class Client {
  readonly frames: Record<string, unknown>[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  #waiting: (() => void)[] = [];

  constructor(url: string, options: { headers?: Record<string, string>; autoPong?: boolean } = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on("message", (data) => {
      this.frames.push(JSON.parse(String(data)));
      for (const look of this.#waiting.splice(0)) look();
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  say(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  async until(type: string, count = 1): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.frames.filter((frame) => frame.type === type);
      const last = found[count - 1];
      if (last !== undefined) return last;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async hello(actorId = "ann", token?: string): Promise<Record<string, unknown>> {
    await once(this.socket, "open");
    this.say({ type: "hello", protocol: 1, actorId, device: "d", ...(token === undefined ? {} : { token }) });
    return this.until("welcome");
  }
}

describe("a relay on sockets", () => {
  test("[P42] two clients over real sockets: an append is acknowledged, pushed and pulled", async () => {
    const relay = await relayWith();
    expect(relay.url).toBe(`ws://127.0.0.1:${relay.port}`);
    const [one, two] = [new Client(relay.url), new Client(relay.url)];
    await Promise.all([one.hello(), two.hello()]);
    one.say(append("s", ["a"]));
    expect(await one.until("ack")).toMatchObject({ outcome: "applied" });
    expect(await two.until("push")).toMatchObject({ append: { start: 0 } });
    two.say(pull("s", null));
    expect(await two.until("page")).toMatchObject({ messages: [{ message: message("a") }] });
  });

  test("[C49] a frame over its limit is told which limit, and closed with 4413, once", async () => {
    const relay = await relayWith({ limits: { maxFrameBytes: 10_000, maxStateBytes: 20_000 } });
    const limit = { name: "maxFrameBytes", max: 10_000 };
    // Over the text's own limit, and so long that the transport lets go of it.
    for (const length of [15_000, 50_000]) {
      const client = new Client(relay.url);
      await client.hello();
      client.say({ ...append("s", []), messages: [message("a", "x".repeat(length))] });
      expect(await client.closed).toEqual({ code: 4413, reason: "too-large" });
      expect(client.frames.at(-1)).toMatchObject({ code: "too-large", limit });
    }
  });

  test("[C46] what is sent before the hello is bounded on the wire, also when a frame never ends", async () => {
    const relay = await relayWith({ limits: { maxHelloBytes: 2_000 } });
    const client = new Client(relay.url);
    await once(client.socket, "open");
    client.socket.send("x".repeat(1_500), { fin: false });
    client.socket.send("x".repeat(1_500), { fin: false });
    expect(await client.closed).toMatchObject({ code: 4413 });
    expect(client.frames).toMatchObject([
      { code: "too-large", limit: { name: "maxHelloBytes", max: 2_000 } },
    ]);
  });

  test("[P3] who says nothing is closed in time", async () => {
    const relay = await relayWith({ limits: { authTimeoutMs: 50 } });
    expect(await new Client(relay.url).closed).toEqual({ code: 4401, reason: "unauthenticated" });
  });

  test("[C34] a half-open socket is found by its silence", async () => {
    const relay = await relayWith({ limits: { pingIntervalMs: 50 } });
    const silent = new Client(relay.url, { autoPong: false });
    const other = new Client(relay.url);
    await Promise.all([silent.hello(), other.hello()]);
    expect((await silent.closed).code).toBe(1006);
    other.say({ type: "ping", id: 1 });
    await other.until("pong");
  });

  test("[P9] closing tells everyone to come again, and frees the port", async () => {
    const relay = await relayWith();
    const client = new Client(relay.url);
    await client.hello();
    await relay.close();
    expect(await client.closed).toEqual({ code: 1013, reason: "try-again" });
    const again = await relayWith({ port: relay.port });
    expect(again.port).toBe(relay.port);
    await relay.close();
  });

  test("[H10] a port that is taken is said to be", async () => {
    const relay = await relayWith();
    await expect(relayWith({ port: relay.port })).rejects.toMatchObject({
      code: "connection",
      retryable: false,
      message: `The relay cannot listen on 127.0.0.1, port ${relay.port}: it is in use`,
    });
  });

  test("[H9] sixty-four appends in flight on each of ten sockets are all acknowledged, in order", async () => {
    const relay = await relayWith();
    const clients = Array.from({ length: 10 }, () => new Client(relay.url));
    await Promise.all(clients.map((client) => client.hello()));
    for (const [n, client] of clients.entries()) {
      let base = EMPTY;
      for (let m = 0; m < 64; m += 1) {
        client.say(append(`s${n}`, [`m${m}`], { base }));
        base = { generation: 0, count: m + 1, lastId: `m${m}` };
      }
    }
    for (const client of clients) {
      await client.until("ack", 64);
      const acks = client.frames.filter(({ type }) => type === "ack").map(({ opId }) => opId);
      expect(acks).toEqual(Array.from({ length: 64 }, (_, m) => `op-m${m}`));
    }
  });

  test("the relay answers /healthz, and tells others what it is", async () => {
    const relay = await relayWith();
    const health = await fetch(`http://127.0.0.1:${relay.port}/healthz`);
    expect([health.status, await health.text()]).toEqual([200, "ok\n"]);
    expect((await fetch(`http://127.0.0.1:${relay.port}/`)).status).toBe(404);
  });

  test("[C46] bytes that are no HTTP leave the relay alive", async () => {
    const relay = await relayWith();
    const socket = connectTcp(relay.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    socket.write("GARBAGE \u0000\u0001\r\n\r\n");
    await once(socket, "close");
    await new Client(relay.url).hello();
  });
});

describe("development mode", () => {
  test.each(["0.0.0.0", "::", "192.168.0.1", "example.com", "127.0.0.1.example.com", ""])(
    "[P4] without authentication a relay does not listen on %j",
    async (host) => {
      await expect(relayWith({ host })).rejects.toMatchObject({ code: "invalid-input", path: "host" });
    },
  );

  test("[P4] it says so", async () => {
    const events: string[] = [];
    await relayWith({ logger: { report: (_, event) => events.push(event) } });
    expect(events).toEqual(["development-mode", "listening"]);
    events.length = 0;
    const authenticate = async () => ({ actorId: "ann" });
    await relayWith({
      authenticate,
      host: "127.0.0.1",
      logger: { report: (_, event) => events.push(event) },
    });
    expect(events).toEqual(["listening"]);
  });

  test("[H10] jwt and authenticate together are refused", async () => {
    const both = { jwt: { secret: "x".repeat(32) }, authenticate: async () => ({ actorId: "a" }) };
    await expect(relayWith(both)).rejects.toMatchObject({ code: "invalid-input", path: "authenticate" });
  });
});

describe("authentication on sockets", () => {
  test("[P5] a custom check gets the token and the request", async () => {
    const seen: unknown[] = [];
    const relay = await relayWith({
      host: "127.0.0.1",
      authenticate: async (token, request) => {
        seen.push([token, request.headers["x-test"]]);
        if (token !== "good") throw new AuthError("forbidden");
        return { actorId: "ann" };
      },
    });
    const good = new Client(relay.url, { headers: { "x-test": "1" } });
    expect(await good.hello("ann", "good")).toMatchObject({ actorId: "ann" });
    const bad = new Client(relay.url);
    await once(bad.socket, "open");
    bad.say({ type: "hello", protocol: 1, actorId: "ann", device: "d", token: "bad" });
    expect(await bad.closed).toEqual({ code: 4403, reason: "forbidden" });
    expect(seen).toEqual([
      ["good", "1"],
      ["bad", undefined],
    ]);
  });

  test("[H8] a page of another origin is accepted and closed with 4403; one that is allowed is let in", async () => {
    const relay = await relayWith({
      host: "127.0.0.1",
      origins: ["https://app.example"],
      authenticate: async () => ({ actorId: "ann" }),
    });
    const evil = new Client(relay.url, { headers: { origin: "https://evil.example" } });
    expect(await evil.closed).toEqual({ code: 4403, reason: "forbidden" });
    expect(evil.frames).toMatchObject([{ type: "fault", code: "forbidden" }]);
    const stock = new Client(`${relay.url}/y/s`, { headers: { origin: "https://evil.example" } });
    expect(await stock.closed).toMatchObject({ code: 4403 });
    await new Client(relay.url, { headers: { origin: "https://app.example" } }).hello();
  });

  test("[P54] a stock client shows its token as a header or as a subprotocol, which is answered", async () => {
    const relay = await relayWith({
      host: "127.0.0.1",
      authenticate: async (token) => {
        if (token === undefined) throw new AuthError("missing");
        return { actorId: token };
      },
    });
    const setup = new Client(relay.url);
    await setup.hello("ann", "ann");
    setup.say(append("s", ["a"]));
    await setup.until("ack");
    const header = new WebSocket(`${relay.url}/y/s`, { headers: { authorization: "Bearer ann" } });
    const protocol = new WebSocket(`${relay.url}/y/s`, ["holdfast.token.ann"]);
    const both = new WebSocket(`${relay.url}/y/s`, ["holdfast.token.ann", "y"]);
    for (const socket of [header, protocol, both]) {
      await once(socket, "message");
      expect(socket.readyState).toBe(WebSocket.OPEN);
    }
    expect([header.protocol, protocol.protocol, both.protocol]).toEqual(["", "holdfast.token.ann", "y"]);
    for (const socket of [header, protocol, both]) socket.terminate();
    const none = new WebSocket(`${relay.url}/y/s`);
    expect((await once(none, "close"))[0]).toBe(4401);
  });

  test("[P54] two stock providers over real sockets converge", async () => {
    const relay = await relayWith();
    const setup = new Client(relay.url);
    await setup.hello("ann");
    setup.say(append("s", ["a"]));
    await setup.until("ack");
    const providers = [new Doc(), new Doc()].map(
      (doc) =>
        new WebsocketProvider(`${relay.url}/y`, "s", doc, {
          WebSocketPolyfill: WebSocket as never,
          disableBc: true,
          params: { actorId: "ann" },
        }),
    );
    const [one, two] = providers as [WebsocketProvider, WebsocketProvider];
    await Promise.all(providers.map((each) => (each.synced ? undefined : once(each as never, "sync"))));
    const arrived = new Promise<void>((resolve) => two.doc.on("update", () => resolve()));
    one.doc.getMap("state").set("/plan", 1);
    await arrived;
    expect(two.doc.getMap("state").get("/plan")).toBe(1);
    for (const each of providers) each.destroy();
  });
});
