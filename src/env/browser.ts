// The one file that touches the real clock, sockets, locks, tabs and page. Works in windows, workers and Node.
import { HoldfastError } from "../model/errors.ts";
import type { Clock } from "./clock.ts";
import type { Environment } from "./environment.ts";
import type { Page, PageSignal } from "./page.ts";
import type { Persistence } from "./persistence.ts";
import type { Random } from "./random.ts";
import { type Reporter, silentReporter } from "./reporter.ts";
import type { Sockets, WebSocketClass } from "./socket.ts";
import { standaloneTabs, type Tabs } from "./tabs.ts";

export interface BrowserEnvironmentOptions {
  /** Where the platform has none of its own (Node 20). */
  readonly WebSocket?: WebSocketClass | undefined;
  /** Silent by default. */
  readonly reporter?: Reporter | undefined;
}

/**
 * The real environment of this window, worker or process. What a platform lacks is left out: outside a page it is
 * always online and visible, without Web Locks a tab stands alone.
 * @throws HoldfastError `unsupported` when there is no WebSocket and none was given.
 */
export function browserEnvironment(options: BrowserEnvironmentOptions = {}): Environment {
  const Socket = options.WebSocket ?? globalThis.WebSocket;
  if (typeof Socket !== "function") {
    throw new HoldfastError("There is no WebSocket here: pass one as the option WebSocket", {
      code: "unsupported",
    });
  }
  return {
    clock: systemClock,
    random: systemRandom,
    sockets: webSockets(Socket),
    tabs: browserTabs(),
    page: browserPage(),
    persistence: browserPersistence(),
    reporter: options.reporter ?? silentReporter,
  };
}

/** Longer timeouts than this fire at once in every engine. */
const MAX_TIMEOUT_MS = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, fire) => {
    let left = delayMs;
    let timer: ReturnType<typeof setTimeout>;
    const wait = (): void => {
      const part = Math.min(left, MAX_TIMEOUT_MS);
      left -= part;
      timer = setTimeout(left > 0 ? wait : fire, part);
    };
    wait();
    return () => clearTimeout(timer);
  },
};

/** The most that getRandomValues gives at once. */
const MAX_RANDOM_BYTES = 65_536;

export const systemRandom: Random = {
  bytes: (length) => {
    const bytes = new Uint8Array(length);
    for (let from = 0; from < length; from += MAX_RANDOM_BYTES) {
      crypto.getRandomValues(bytes.subarray(from, from + MAX_RANDOM_BYTES));
    }
    return bytes;
  },
  fraction: () => {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    return ((high >>> 5) * 0x4000000 + (low >>> 6)) / 0x20000000000000;
  },
};

/** Writes every report to the console, at its level. */
export const consoleReporter: Reporter = {
  report: (level, event, detail = {}) => console[level](`holdfast: ${event}`, detail),
};

function webSockets(Socket: WebSocketClass): Sockets {
  return {
    connect: (url, events) => {
      let socket: WebSocket;
      try {
        socket = new Socket(url) as WebSocket;
      } catch (error) {
        // A URL that is none, or one that this page may not open.
        queueMicrotask(() => events.closed(1006, error instanceof Error ? error.message : String(error)));
        return { send: () => {}, close: () => {}, bufferedBytes: 0 };
      }
      let ended = false;
      socket.binaryType = "arraybuffer";
      socket.onopen = () => events.opened();
      socket.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === "string") events.received(data);
        else if (data instanceof ArrayBuffer) events.received(new Uint8Array(data));
      };
      // Says nothing that the close event after it does not; unheard, some implementations throw it.
      socket.onerror = () => {};
      socket.onclose = ({ code, reason }) => {
        if (ended) return;
        ended = true;
        events.closed(code, reason);
      };
      return {
        send: (data) => {
          if (socket.readyState !== OPEN) return;
          socket.send(typeof data === "string" ? data : (data as Uint8Array<ArrayBuffer>));
        },
        close: (code, reason) => {
          // Other codes may not be sent by a page, and reasons not longer than 123 bytes.
          const allowed = code === 1000 || (code !== undefined && code >= 3000 && code <= 4999);
          if (allowed) socket.close(code, reason?.slice(0, 40));
          else socket.close();
        },
        get bufferedBytes() {
          return socket.bufferedAmount;
        },
      };
    },
  };
}

/** WebSocket.OPEN, which a class given as an option need not carry. */
const OPEN = 1;

/** What the tabs of this browser share: Web Locks and BroadcastChannels, as far as it has them. */
export function browserTabs(): Tabs {
  const alone = standaloneTabs();
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  return {
    locksAvailable: locks !== undefined,
    lock: async (name, work, { signal, steal = false } = {}) => {
      if (locks === undefined) return alone.lock(name, work, { signal });
      let begun = false;
      const begin = async () => {
        begun = true;
        return await work();
      };
      try {
        // The two may not be asked for together.
        const how = steal ? { steal } : signal === undefined ? {} : { signal };
        return await locks.request(name, how, begin);
      } catch (error) {
        // A page without an origin of its own (a sandboxed frame) has the interface, and may not use it.
        const barred = !begun && error instanceof DOMException && error.name === "SecurityError";
        if (!barred) throw error;
        return alone.lock(name, work, { signal });
      }
    },
    channel: (name, received) => {
      if (typeof BroadcastChannel !== "function") return alone.channel(name, received);
      const channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }: MessageEvent<unknown>) => received(data);
      // In Node an open channel would keep the process alive.
      if ("unref" in channel && typeof channel.unref === "function") channel.unref();
      let open = true;
      return {
        post: (data) => {
          if (open) channel.postMessage(data);
        },
        close: () => {
          open = false;
          channel.close();
        },
      };
    },
  };
}

function browserPersistence(): Persistence | undefined {
  const storage = (globalThis.navigator as { storage?: Partial<StorageManager> } | undefined)?.storage;
  if (typeof storage?.persist !== "function" || typeof storage.persisted !== "function") return undefined;
  const { persist, persisted } = storage;
  return { persist: () => persist.call(storage), persisted: () => persisted.call(storage) };
}

function browserPage(): Page {
  const view: EventTarget | undefined = typeof addEventListener === "function" ? globalThis : undefined;
  const page = typeof document === "object" ? document : undefined;
  return {
    get online() {
      return (globalThis.navigator as { onLine?: boolean } | undefined)?.onLine !== false;
    },
    get visible() {
      return page?.visibilityState !== "hidden";
    },
    watch: (listener) => {
      const stop = new AbortController();
      const hear = (target: EventTarget | undefined, event: string, signal: () => PageSignal): void => {
        target?.addEventListener(event, () => listener(signal()), { signal: stop.signal });
      };
      for (const event of ["online", "offline", "pagehide", "pageshow"] as const)
        hear(view, event, () => event);
      for (const event of ["freeze", "resume"] as const) hear(page, event, () => event);
      hear(page, "visibilitychange", () => (page?.visibilityState === "hidden" ? "hidden" : "visible"));
      return () => stop.abort();
    },
  };
}
