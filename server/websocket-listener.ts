import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket as NetSocket } from "node:net";
import { type ServerOptions, WebSocketServer } from "ws";
import type { Clock } from "../src/env/clock.ts";
import { ConnectionError } from "../src/model/errors.ts";
import { maxBinaryFrameBytes, type RelayLimits } from "./limits.ts";
import type { RelayCore } from "./relay-core.ts";
import { chosenProtocol, tokenOf } from "./stock-token.ts";
import { connectionOf, RelaySocket } from "./websocket-connection.ts";

export interface ListenerOptions {
  readonly core: RelayCore;
  readonly clock: Clock;
  readonly limits: RelayLimits;
  readonly port: number;
  /** Undefined listens on every address. */
  readonly host: string | undefined;
  /** What plain requests are answered. */
  readonly answerHttp: RequestListener;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections. */
  stop(): void;
  /** Gives those that are closing a moment, then ends them. */
  end(): Promise<void>;
}

/** What frames add to what they carry. */
const FRAMING_BYTES = 256;
/** How long a closed socket may take to answer before it is destroyed. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Listens for WebSockets and hands them to the relay's core. @throws ConnectionError when it cannot listen */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { core, clock, limits, host } = options;
  const server = createServer(patience(limits.authTimeoutMs), options.answerHttp);
  const sockets = new Map<RelaySocket, Life>();
  // The types do not know closeTimeout yet.
  const settings: ServerOptions<typeof RelaySocket> & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    // Compression costs twelve times the CPU for what a chat's messages save.
    perMessageDeflate: false,
    // A binary frame holds up to a whole state; text frames are held to their own limit where they are read.
    maxPayload: Math.max(limits.maxFrameBytes, maxBinaryFrameBytes(limits)),
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: chosenProtocol,
    WebSocket: RelaySocket,
  };
  const upgrader = new WebSocketServer(settings);
  server.on("upgrade", (request: IncomingMessage, wire: NetSocket, head: Buffer) => {
    wire.on("error", () => wire.destroy());
    upgrader.handleUpgrade(request, wire, head, (socket) => {
      sockets.set(socket, { wire, bytesRead: -1 });
      socket.on("close", () => sockets.delete(socket));
      attach(core, { socket, wire, request, maxEarlyBytes: limits.maxHelloBytes + FRAMING_BYTES });
    });
  });
  await listening(server, options.port, host);
  const stopPinging = everySoOften(clock, limits.pingIntervalMs, () => pingAll(sockets));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    stop: () => {
      stopPinging();
      server.close();
    },
    end: async () => {
      await whenClosed(sockets, clock);
      for (const socket of sockets.keys()) socket.terminate();
      server.closeAllConnections();
    },
  };
}

interface Made {
  readonly socket: RelaySocket;
  readonly wire: NetSocket;
  readonly request: IncomingMessage;
  readonly maxEarlyBytes: number;
}

function attach(core: RelayCore, { socket, wire, request, maxEarlyBytes }: Made): void {
  // Counted on the wire, so that a frame that never ends is cut off as well (C46).
  let early = 0;
  const countEarly = (chunk: Buffer): void => {
    early += chunk.length;
    if (early <= maxEarlyBytes) return;
    receiver.tooLarge();
    socket.pause();
  };
  const connection = connectionOf(socket, wire, { admitted: () => wire.off("data", countEarly) });
  const { url = "/", headers } = request;
  const receiver = core.accept(connection, { url, origin: headers.origin, token: tokenOf(headers), request });
  wire.on("data", countEarly);
  socket.tooLarge = () => receiver.tooLarge();
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    receiver.received(
      isBinary ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data.toString("utf8"),
    );
  });
  // ws ends the socket after any error, and its end is heard below.
  socket.on("error", () => {});
  socket.on("close", () => receiver.closed());
}

/** Who says nothing, or says it letter by letter, is let go of before there is a WebSocket, too (C46). */
function patience(timeoutMs: number): {
  headersTimeout: number;
  requestTimeout: number;
  connectionsCheckingInterval: number;
} {
  const connectionsCheckingInterval = Math.max(10, Math.min(1_000, Math.floor(timeoutMs / 4)));
  return { headersTimeout: timeoutMs, requestTimeout: timeoutMs, connectionsCheckingInterval };
}

function listening(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const where = host === undefined ? `port ${port}` : `${host}, port ${port}`;
      const why = cause.code === "EADDRINUSE" ? "it is in use" : cause.message;
      reject(new ConnectionError(`The relay cannot listen on ${where}: ${why}`, { retryable: false, cause }));
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
}

interface Life {
  readonly wire: NetSocket;
  /** What had come in at the last ping. */
  bytesRead: number;
}

/**
 * A socket from which no byte has come since the last ping is half open: it is ended, and its client comes again. Not
 * only an answer counts: on a slow line it waits behind what is being sent.
 */
function pingAll(sockets: Map<RelaySocket, Life>): void {
  for (const [socket, life] of sockets) {
    const { bytesRead } = life.wire;
    if (bytesRead === life.bytesRead) socket.terminate();
    else {
      life.bytesRead = bytesRead;
      socket.ping();
    }
  }
}

function everySoOften(clock: Clock, periodMs: number, run: () => void): () => void {
  let cancel = (): void => {};
  const again = (): void => {
    cancel = clock.after(periodMs, () => {
      run();
      again();
    });
  };
  again();
  return () => cancel();
}

/** Until all have closed, or for as long as that may take. */
function whenClosed(sockets: ReadonlyMap<RelaySocket, unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(CLOSE_TIMEOUT_MS, resolve);
    const look = (): void => {
      if (sockets.size > 0) return;
      cancel();
      resolve();
    };
    for (const socket of sockets.keys()) socket.on("close", look);
    look();
  });
}
