import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket as NodeWebSocket, WebSocketServer } from "ws";
import { browserEnvironment } from "../../src/env/browser.ts";
import type { SocketEvents } from "../../src/env/socket.ts";
import { HoldfastError } from "../../src/model/errors.ts";

const Socket = NodeWebSocket as unknown as typeof WebSocket;
const servers: WebSocketServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(welcome: (socket: NodeWebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  server.on("connection", welcome);
  await once(server, "listening");
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Notes what comes, and when the socket is over. */
function listener(): { events: SocketEvents; log: unknown[]; opened: Promise<void>; over: Promise<void> } {
  const log: unknown[] = [];
  let open = (): void => {};
  let end = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const events: SocketEvents = {
    opened: () => {
      log.push("opened");
      open();
    },
    received: (data) => log.push(data),
    closed: (code, reason) => {
      log.push(`closed ${code} ${reason}`);
      end();
    },
  };
  return { events, log, opened, over };
}

describe("real sockets", () => {
  test("[P1] text and bytes pass both ways, and the close comes once with its code", async () => {
    const url = await serve((socket) => {
      socket.on("message", (data, binary) => {
        socket.send(data, { binary });
        if (binary) socket.close(4401, "expired");
      });
    });
    const { sockets } = browserEnvironment({ WebSocket: Socket });
    const { events, log, opened, over } = listener();
    const socket = sockets.connect(url, events);
    socket.send("ignored: not open yet");
    expect(log).toEqual([]);
    await opened;
    socket.send("text ä");
    const frame = Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4);
    socket.send(frame);
    await over;
    expect(log).toEqual(["opened", "text ä", Uint8Array.of(1, 2, 3), "closed 4401 expired"]);
    expect(frame).toEqual(Uint8Array.of(1, 2, 3));
    socket.send("ignored: closed");
    socket.close();
    expect(socket.bufferedBytes).toBeGreaterThanOrEqual(0);
    await new Promise(setImmediate);
    expect(log).toHaveLength(4);
  });

  test("[C32] a connection that cannot be made closes exactly once, and never from inside connect", async () => {
    const url = await serve(() => {});
    servers[0]?.close();
    await once(servers[0] as WebSocketServer, "close");
    const { sockets } = browserEnvironment({ WebSocket: Socket });
    for (const bad of [url, "not a url", "ws://127.0.0.1:1/#fragment"]) {
      const { events, log, over } = listener();
      const socket = sockets.connect(bad, events);
      expect(log).toEqual([]);
      socket.send("nothing");
      await over;
      socket.close();
      expect(log).toEqual([expect.stringMatching(/^closed 1006/)]);
    }
  });

  test("[C32] closing while it opens, with a code that a page may not send, throws nothing and ends it", async () => {
    const url = await serve(() => {});
    const { sockets } = browserEnvironment({ WebSocket: Socket });
    const { events, log, over } = listener();
    const socket = sockets.connect(url, events);
    socket.close(1013, "x".repeat(500));
    await over;
    expect(log).toEqual([expect.stringMatching(/^closed 1006/)]);
  });

  test("[P9] the reason of a close is cut to what a close frame holds", async () => {
    const closes: [number, string][] = [];
    const url = await serve((socket) => {
      socket.on("close", (code, reason) => closes.push([code, String(reason)]));
    });
    const { sockets } = browserEnvironment({ WebSocket: Socket });
    const { events, opened, over } = listener();
    const socket = sockets.connect(url, events);
    await opened;
    socket.close(4400, "ß€😀".repeat(100));
    await over;
    expect(closes).toEqual([[4400, expect.stringMatching(/^ß€😀/)]]);
  });

  test("[H10] where there is no WebSocket and none is given, that is said", () => {
    const present = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
    Reflect.deleteProperty(globalThis, "WebSocket");
    try {
      expect(() => browserEnvironment()).toThrow(HoldfastError);
      expect(() => browserEnvironment()).toThrow(/option WebSocket/);
    } finally {
      if (present !== undefined) Object.defineProperty(globalThis, "WebSocket", present);
    }
  });
});
