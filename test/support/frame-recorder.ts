import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";

/** One connection of a tab to the relay, as it was seen on the way. */
export interface RecordedSocket {
  /** What its tab calls it. */
  readonly name: string;
  /** The epoch in which its tab leads, as far as the tab came to tell it. */
  readonly epoch: number | undefined;
  /** Places of its ops among all ops that passed, over all connections. */
  readonly ops: number[];
  closed: boolean;
}

/** A cable to the relay that remembers who sent what when. */
export interface FrameRecorder {
  readonly url: string;
  readonly sockets: readonly RecordedSocket[];
  close(): Promise<void>;
}

/** Sockets come with `?socket=name`; `/epoch?socket=name&epoch=n` tells the epoch of one. */
export async function openFrameRecorder(relayUrl: string): Promise<FrameRecorder> {
  const sockets: RecordedSocket[] = [];
  const epochs = new Map<string, number>();
  let passed = 0;
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });

  server.on("connection", (near, request) => {
    near.on("error", () => {});
    const { pathname, searchParams } = new URL(request.url ?? "/", "ws://recorder");
    const name = searchParams.get("socket") ?? "";
    if (pathname === "/epoch") {
      epochs.set(name, Number(searchParams.get("epoch")));
      near.close();
      return;
    }
    const socket: RecordedSocket = {
      name,
      get epoch() {
        return epochs.get(name);
      },
      ops: [],
      closed: false,
    };
    sockets.push(socket);
    const far = new WebSocket(relayUrl);
    const opened = once(far, "open");
    // A relay that is away is a closed connection, like any other.
    opened.catch(() => near.terminate());
    near.on("message", (data, isBinary) => {
      if (!isBinary && "opId" in JSON.parse(String(data))) socket.ops.push(passed++);
      void opened.then(() => far.send(data, { binary: isBinary }));
    });
    far.on("message", (data, isBinary) => near.send(data, { binary: isBinary }));
    near.on("close", () => {
      socket.closed = true;
      far.terminate();
    });
    far.on("error", () => {});
    far.on("close", () => near.terminate());
  });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The recorder has no port.");
  return {
    url: `ws://127.0.0.1:${address.port}`,
    sockets,
    close: async () => {
      for (const near of server.clients) near.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Pairs of connections of which one sent ops while the other was not done sending its own. */
export function overlaps(sockets: readonly RecordedSocket[]): [RecordedSocket, RecordedSocket][] {
  const senders = sockets.filter(({ ops }) => ops.length > 0);
  const spans = senders.map((socket) => ({ socket, from: socket.ops[0] ?? 0, to: socket.ops.at(-1) ?? 0 }));
  return spans.flatMap((one, at) =>
    spans
      .slice(at + 1)
      .filter((other) => one.from < other.to && other.from < one.to)
      .map((other): [RecordedSocket, RecordedSocket] => [one.socket, other.socket]),
  );
}
