import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createRelay, type Relay } from "../../server/relay.ts";
import type { RelayOptions } from "../../server/relay-options.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { silentReporter } from "../../src/env/reporter.ts";
import { seededRandom } from "../../src/testing/random.ts";
import { append, EMPTY } from "./ops.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function relayWith(options: RelayOptions = {}): Promise<Relay> {
  const relay = await createRelay({ port: 0, storage: memoryStorage(), logger: silentReporter, ...options });
  open.push(() => relay.close());
  return relay;
}

function tcp(port: number): { socket: Socket; ended: Promise<number>; heard: () => string } {
  const socket = connect(port, "127.0.0.1");
  const from = performance.now();
  let heard = "";
  socket.on("data", (data) => {
    heard += data.toString("latin1");
  });
  socket.on("error", () => {});
  const ended = once(socket, "close").then(() => performance.now() - from);
  return { socket, ended, heard: () => heard };
}

const status = async (relay: Relay, path: string): Promise<[number, string]> => {
  const response = await fetch(`http://127.0.0.1:${relay.port}${path}`);
  return [response.status, await response.text()];
};

const UPGRADE =
  "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

describe("who connects and does not speak", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["that sends nothing at all", () => {}],
    ["that begins a request and stops", (socket) => socket.write("GET / HT")],
    [
      "that sends its headers letter by letter",
      (socket) => {
        const timer = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(timer));
        socket.write("GET / HTTP/1.1\r\nHost: x\r\nX-Long: ");
      },
    ],
    [
      "that promises a body and sends none of it",
      (socket) => socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"),
    ],
    ["that asks and stays", (socket) => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
    ["that upgrades and says no hello", (socket) => socket.write(`GET / HTTP/1.1\r\n${UPGRADE}`)],
    [
      "that upgrades and begins a frame that never ends",
      (socket) => {
        socket.write(`GET / HTTP/1.1\r\n${UPGRADE}`);
        socket.write(Buffer.from([0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 5]));
      },
    ],
  ])(
    "[C46] a connection %s is closed after seconds",
    async (_, speak) => {
      const relay = await relayWith({ limits: { authTimeoutMs: 300 } });
      const { socket, ended } = tcp(relay.port);
      await once(socket, "connect");
      speak(socket);
      // The limit, a moment to look, and what a closed socket gets to answer or an idle one to ask again.
      expect(await ended).toBeLessThan(8_000);
    },
    30_000,
  );

  test("[C46] a hundred that say nothing do not keep one from its work", async () => {
    const relay = await relayWith({ limits: { authTimeoutMs: 500 } });
    const silent = Array.from({ length: 100 }, () => tcp(relay.port));
    await Promise.all(silent.map(({ socket }) => once(socket, "connect")));
    const client = new WebSocket(relay.url);
    await once(client, "open");
    client.send(JSON.stringify({ type: "hello", protocol: 1, actorId: "ann", device: "d" }));
    expect(JSON.parse(String((await once(client, "message"))[0]))).toMatchObject({ type: "welcome" });
    await Promise.all(silent.map(({ ended }) => ended));
    expect(client.readyState).toBe(WebSocket.OPEN);
    client.terminate();
  });
});

test("[C46] three hundred connections of random bytes (seed 46), before and after the upgrade: another client's appends are all acknowledged", async () => {
  const random = seededRandom(46);
  const relay = await relayWith();
  const client = new WebSocket(relay.url);
  await once(client, "open");
  const ask = async (frame: object): Promise<unknown> => {
    client.send(JSON.stringify(frame));
    return JSON.parse(String((await once(client, "message"))[0]));
  };
  await ask({ type: "hello", protocol: 1, actorId: "ann", device: "d" });
  let base = EMPTY;
  for (let n = 0; n < 300; n += 1) {
    const { socket, ended, heard } = tcp(relay.port);
    await once(socket, "connect");
    const paths = ["/", "/y/s", "/y/s?actorId=ann", "/healthz"];
    if (random.chance(0.7)) {
      socket.write(`GET ${paths[random.below(4)]} HTTP/1.1\r\n${UPGRADE}`);
      await expect.poll(heard).toMatch(/^HTTP/);
    }
    for (let burst = random.below(4); burst >= 0; burst -= 1) socket.write(random.bytes(random.below(2_000)));
    if (random.chance(0.5)) socket.end();
    else socket.destroy();
    socket.resume();
    await ended;
    if (n % 5 !== 0) continue;
    const ack = await ask(append("s", [`m${n}`], { base }));
    expect(ack).toMatchObject({ type: "ack", outcome: "applied" });
    base = { generation: 0, count: base.count + 1, lastId: `m${n}` };
  }
  expect(client.readyState).toBe(WebSocket.OPEN);
  client.terminate();
}, 60_000);

describe("addresses that are none", () => {
  test.each([
    "//",
    "///",
    "http://[",
    "/y/%",
    "/y/%ff",
    "/y/",
    "//y//",
    "*",
    "/\\",
    "/y/s?token=%zz",
    `/y/${"x".repeat(9_000)}`,
  ])("[C46] %s: the process lives, and others notice nothing", async (path) => {
    const relay = await relayWith();
    for (const rest of [UPGRADE, "Host: x\r\n\r\n"]) {
      const { socket, ended, heard } = tcp(relay.port);
      await once(socket, "connect");
      socket.write(`GET ${path} HTTP/1.1\r\n${rest}`);
      await expect.poll(heard).toMatch(/^HTTP\/1\.1 (101|400|404) /);
      socket.destroy();
      await ended;
    }
    expect(await status(relay, "/healthz")).toEqual([200, "ok\n"]);
  });
});

describe("what an operator asks", () => {
  test("/healthz says that it lives, /readyz that it can take work, anything else that it is a relay", async () => {
    const relay = await relayWith();
    expect(await status(relay, "/healthz")).toEqual([200, "ok\n"]);
    expect(await status(relay, "/readyz")).toEqual([200, "ready\n"]);
    expect(await status(relay, "/readyz?from=probe")).toEqual([200, "ready\n"]);
    expect((await status(relay, "/"))[0]).toBe(404);
  });

  test("[H12] /readyz is red while storage fails, and green again by itself; /healthz is green throughout", async () => {
    const events: string[] = [];
    const storage = memoryStorage();
    let fails = false;
    const probe = async (): Promise<void> => {
      if (fails) throw new Error("The disk is full");
    };
    const logger = { report: (_: string, event: string) => events.push(event) };
    const relay = await relayWith({ storage: Object.assign(storage, { probe }), logger });
    expect(await status(relay, "/readyz")).toEqual([200, "ready\n"]);
    fails = true;
    await expect.poll(() => status(relay, "/readyz"), { timeout: 5_000 }).toEqual([503, "not ready\n"]);
    expect(await status(relay, "/healthz")).toEqual([200, "ok\n"]);
    fails = false;
    await expect.poll(() => status(relay, "/readyz"), { timeout: 5_000 }).toEqual([200, "ready\n"]);
    // Said once each, however often it was asked.
    expect(events.filter((event) => event.startsWith("storage"))).toEqual([
      "storage-fails",
      "storage-works-again",
    ]);
  });
});
