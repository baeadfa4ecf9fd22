import { describe, expect, test } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";
import { browserEnvironment, systemClock, systemRandom } from "../../src/env/browser.ts";
import type { PageSignal } from "../../src/env/page.ts";

const Socket = NodeWebSocket as unknown as typeof WebSocket;
describe("the real clock and randomness", () => {
  test("[H12] a timer fires once, a cancelled one never, one beyond a timeout's range not at once", async () => {
    let fired = 0;
    const never = systemClock.after(0, () => fired--);
    const far = systemClock.after(2 ** 31 + 10, () => fired--);
    never();
    const before = systemClock.now();
    await new Promise<void>((resolve) => {
      systemClock.after(5, () => {
        fired += 1;
        resolve();
      });
    });
    far();
    expect(fired).toBe(1);
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  });

  test("[M8] random bytes come in any number and differ; fractions lie in [0, 1)", () => {
    const bytes = systemRandom.bytes(200_000);
    expect(bytes.byteLength).toBe(200_000);
    expect(bytes.subarray(190_000).some((byte) => byte !== 0)).toBe(true);
    expect(systemRandom.bytes(16)).not.toEqual(systemRandom.bytes(16));
    expect(systemRandom.bytes(0)).toEqual(new Uint8Array(0));
    const fractions = Array.from({ length: 1000 }, () => systemRandom.fraction());
    expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...fractions)).toBeLessThan(1);
    expect(new Set(fractions).size).toBe(1000);
  });
});

describe("outside a page", () => {
  test("[H12] Node is always online and visible, and watching it harms nothing", () => {
    const { page } = browserEnvironment({ WebSocket: Socket });
    const signals: PageSignal[] = [];
    const leave = page.watch((signal) => signals.push(signal));
    leave();
    expect([page.online, page.visible, signals]).toEqual([true, true, []]);
  });

  test("[C37] without Web Locks a lock still queues work within the tab", async () => {
    const { tabs } = browserEnvironment({ WebSocket: Socket });
    const order: number[] = [];
    const first = tabs.lock("a", async () => {
      await new Promise(setImmediate);
      order.push(1);
      return "first";
    });
    const second = tabs.lock("a", async () => order.push(2));
    expect(await first).toBe("first");
    await second;
    expect(order).toEqual([1, 2]);
  });

  test("[H12] channels reach the others and not the sender", async () => {
    const { tabs } = browserEnvironment({ WebSocket: Socket });
    const heard: unknown[] = [];
    const name = `holdfast-test-${systemRandom.fraction()}`;
    const mine = tabs.channel(name, (data) => heard.push(["mine", data]));
    let come = (): void => {};
    const came = new Promise<void>((resolve) => {
      come = resolve;
    });
    const other = tabs.channel(name, (data) => {
      heard.push(["other", data]);
      come();
    });
    mine.post({ n: 1 });
    // An unref'd channel alone does not keep the process waiting for it.
    const hold = setInterval(() => {}, 1_000);
    await came;
    clearInterval(hold);
    expect(heard).toEqual([["other", { n: 1 }]]);
    mine.close();
    mine.post({ n: 2 });
    other.close();
  });
});

describe("where there are Web Locks", () => {
  type Request = (
    name: string,
    options: { signal?: AbortSignal },
    work: () => Promise<unknown>,
  ) => Promise<unknown>;

  async function withLocks(request: Request, check: () => Promise<void>): Promise<void> {
    const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    Object.defineProperty(globalThis, "navigator", { value: { locks: { request } }, configurable: true });
    try {
      await check();
    } finally {
      if (before === undefined) Reflect.deleteProperty(globalThis, "navigator");
      else Object.defineProperty(globalThis, "navigator", before);
    }
  }

  test("[C37] a lock is asked for by its name, with the signal that leaves the queue", async () => {
    const asked: unknown[] = [];
    const request: Request = (name, options, work) => {
      asked.push([name, options]);
      return work();
    };
    await withLocks(request, async () => {
      const { tabs } = browserEnvironment({ WebSocket: Socket });
      const { signal } = new AbortController();
      expect(tabs.locksAvailable).toBe(true);
      expect(await tabs.lock("a", async () => 1)).toBe(1);
      expect(await tabs.lock("b", async () => 2, { signal })).toBe(2);
      expect(asked).toEqual([
        ["a", {}],
        ["b", { signal }],
      ]);
    });
  });

  test("[C52] a page that may not use them is treated like one without; the work's own errors pass", async () => {
    const barred: Request = () => Promise.reject(new DOMException("no origin", "SecurityError"));
    await withLocks(barred, async () => {
      const { tabs } = browserEnvironment({ WebSocket: Socket });
      expect(await tabs.lock("a", async () => "ran")).toBe("ran");
    });
    let runs = 0;
    await withLocks(
      (_name, _options, work) => work(),
      async () => {
        const { tabs } = browserEnvironment({ WebSocket: Socket });
        const failing = tabs.lock("a", async () => {
          runs += 1;
          throw new DOMException("of the work", "SecurityError");
        });
        await expect(failing).rejects.toThrow("of the work");
        expect(runs).toBe(1);
      },
    );
  });
});

describe("in a page", () => {
  class FakeDocument extends EventTarget {
    visibilityState: "visible" | "hidden" = "visible";
  }

  function withPage(check: (view: EventTarget, page: FakeDocument) => void): void {
    const view = new EventTarget();
    const page = new FakeDocument();
    const names = ["addEventListener", "document", "navigator"] as const;
    const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
    const set = (name: string, value: unknown): void => {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    };
    set("addEventListener", view.addEventListener.bind(view));
    set("document", page);
    set("navigator", { onLine: false });
    try {
      check(view, page);
    } finally {
      names.forEach((name, index) => {
        const descriptor = before[index];
        if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
        else Object.defineProperty(globalThis, name, descriptor);
      });
    }
  }

  test("[C34] signals of window and document reach the watcher until it leaves", () => {
    withPage((view, document) => {
      const { page } = browserEnvironment({ WebSocket: Socket });
      const signals: PageSignal[] = [];
      const leave = page.watch((signal) => signals.push(signal));
      expect([page.online, page.visible]).toEqual([false, true]);
      for (const name of ["online", "offline", "pagehide", "pageshow"]) view.dispatchEvent(new Event(name));
      document.visibilityState = "hidden";
      document.dispatchEvent(new Event("visibilitychange"));
      expect(page.visible).toBe(false);
      document.visibilityState = "visible";
      document.dispatchEvent(new Event("visibilitychange"));
      for (const name of ["freeze", "resume"]) document.dispatchEvent(new Event(name));
      leave();
      view.dispatchEvent(new Event("online"));
      expect(signals).toEqual([
        "online",
        "offline",
        "pagehide",
        "pageshow",
        "hidden",
        "visible",
        "freeze",
        "resume",
      ]);
    });
  });
});
