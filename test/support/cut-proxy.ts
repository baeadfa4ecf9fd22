import { connect, createServer, type Socket } from "node:net";

/** A cable between client and relay that a test can cut. It knows bytes only, so it behaves alike for every engine. */
export interface CutProxy {
  readonly port: number;
  /** ws://127.0.0.1:port, to be given to clients instead of the relay's address. */
  readonly url: string;
  /** Connections that go through now, and how many there have ever been. */
  readonly open: number;
  readonly accepted: number;
  /** Bytes that have gone through, to the relay and from it. */
  readonly bytes: { readonly up: number; readonly down: number };
  /** Resets every connection and every attempt to make one. */
  cut(): void;
  /** Keeps connections open and loses what is sent through them: a half-open line. */
  swallow(): void;
  /** Keeps back what the relay says until `heal`, which hands it on. */
  hold(): void;
  /** Carries so many bytes a second each way and line from now on; without a number, all at once again. */
  throttle(bytesPerSecond?: number): void;
  /** Lets new connections through; those that lost bytes are reset. */
  heal(): void;
  /** Where connections go from now on. */
  retarget(port: number): void;
  close(): Promise<void>;
}

export async function openCutProxy(targetPort: number, options: { host?: string } = {}): Promise<CutProxy> {
  const host = options.host ?? "127.0.0.1";
  const lines = new Set<{ near: Socket; far: Socket; lossy: boolean }>();
  let mode: "through" | "cut" | "swallow" | "hold" = "through";
  let bytesPerSecond = Number.POSITIVE_INFINITY;
  const held: (() => void)[] = [];
  let target = targetPort;
  let accepted = 0;
  const bytes = { up: 0, down: 0 };

  const server = createServer((near) => {
    if (mode === "cut") {
      near.on("error", () => {});
      near.resetAndDestroy();
      return;
    }
    accepted += 1;
    const line = { near, far: connect(target, host), lossy: mode === "swallow" };
    lines.add(line);
    const sides: [Socket, Socket][] = [
      [line.near, line.far],
      [line.far, line.near],
    ];
    for (const [from, to] of sides) {
      from.setNoDelay(true);
      from.on("data", (chunk) => {
        if (mode === "swallow" || line.lossy) {
          line.lossy = true;
          return;
        }
        const up = from === near;
        const carry = (): void => {
          bytes[up ? "up" : "down"] += chunk.length;
          const waitMs = (chunk.length / bytesPerSecond) * 1_000;
          if (to.write(chunk) && waitMs < 1) from.resume();
          else if (waitMs < 1) to.once("drain", () => from.resume());
          else setTimeout(() => from.resume(), waitMs).unref();
        };
        from.pause();
        if (mode === "hold" && !up) held.push(carry);
        else carry();
      });
      from.on("end", () => to.end());
      // A reset on one side is a reset on the other; the close that follows is what ends the line.
      from.on("error", () => to.destroy());
      from.on("close", () => {
        to.destroy();
        lines.delete(line);
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");

  const reset = (line: { near: Socket; far: Socket }) => {
    line.near.resetAndDestroy();
    line.far.resetAndDestroy();
  };
  return {
    port: address.port,
    url: `ws://${host}:${address.port}`,
    get open() {
      return lines.size;
    },
    get accepted() {
      return accepted;
    },
    get bytes() {
      return { ...bytes };
    },
    cut() {
      mode = "cut";
      for (const line of lines) reset(line);
    },
    swallow() {
      mode = "swallow";
    },
    hold() {
      mode = "hold";
    },
    throttle(rate) {
      bytesPerSecond = rate ?? Number.POSITIVE_INFINITY;
    },
    heal() {
      mode = "through";
      for (const carry of held.splice(0)) carry();
      for (const line of lines) if (line.lossy) reset(line);
    },
    retarget(port) {
      target = port;
    },
    async close() {
      for (const line of lines) reset(line);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
