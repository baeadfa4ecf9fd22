import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import { Doc, Array as YArray } from "yjs";
import { type Device, openDevice } from "../support/device.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const soon = { timeout: 20_000 };
const actorId = "anna";

let relay: RelayProcess;
let site: PageServer;
let device: Device;

beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  device = await openDevice({ site: site.url, url: relay.url, actorId });
});

afterAll(async () => {
  await device?.dispose();
  await Promise.all([relay?.dispose(), site?.close()]);
});

/** A session exists at the relay once its first op does. */
async function born(session: string): Promise<void> {
  await device.page.evaluate(async (id) => {
    await window.desk.session(id).append({ messages: [], state: { tags: ["first"], plan: { step: 1 } } });
  }, session);
  expect(await device.page.evaluate(() => window.desk.flush(20_000))).toEqual({ pending: 0 });
}

const state = (session: string) => device.page.evaluate((id) => window.desk.state(id), session);

test("[P54, P60] an unchanged y-websocket client in Node and a session in Chromium edit one state", async () => {
  await born("plans/2026 ü");
  // What y-websocket says of a message it does not know.
  const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
  const doc = new Doc();
  const provider = new WebsocketProvider(`${relay.url}/y`, encodeURIComponent("plans/2026 ü"), doc, {
    params: { actorId },
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    disableBc: true,
  });
  try {
    const leaves = doc.getMap("state");
    await expect.poll(() => leaves.get("/plan/step"), soon).toBe(1);
    const tags = leaves.get("/tags");
    if (!(tags instanceof YArray)) throw new Error("an array of the state is no Y.Array");
    expect(tags.toJSON()).toEqual(["first"]);

    leaves.set("/plan/owner", "stock");
    tags.push(["from stock"]);
    await expect
      .poll(() => state("plans/2026 ü"), soon)
      .toEqual({ tags: ["first", "from stock"], plan: { step: 1, owner: "stock" } });

    await device.page.evaluate(() =>
      window.desk.session("plans/2026 ü").updateState((draft) => {
        draft.plan = { step: 2, owner: "stock" };
        draft.tags = ["first", "from stock", "from the session"];
      }),
    );
    await expect.poll(() => leaves.get("/plan/step"), soon).toBe(2);
    await expect.poll(() => tags.toJSON(), soon).toEqual(["first", "from stock", "from the session"]);
    expect(leaves.get("/plan/owner")).toBe("stock");
    expect(complaints).not.toHaveBeenCalled();
  } finally {
    complaints.mockRestore();
    provider.destroy();
    doc.destroy();
  }
});

test("[P54, H6] one in the page beside it, and the edits of both outlive the relay", async () => {
  await born("beside");
  await device.page.evaluate(
    ([url, actor]) => {
      const { yjs, WebsocketProvider } = window.libraries;
      const doc = new yjs.Doc();
      const provider = new WebsocketProvider(`${url}/y`, "beside", doc, {
        params: { actorId: actor },
        disableBc: true,
      });
      window.stock = { doc, provider };
    },
    [relay.url, actorId] as const,
  );
  const leaf = (key: string) =>
    device.page.evaluate((at) => window.stock.doc.getMap("state").get(at), `/${key}`);
  await expect.poll(() => leaf("plan/step"), soon).toBe(1);

  await device.page.evaluate(() => window.stock.doc.getMap("state").set("/stock", "edited"));
  await device.page.evaluate(() => window.desk.setState("beside", "session", "edited"));
  const merged = { tags: ["first"], plan: { step: 1 }, stock: "edited", session: "edited" };
  await expect.poll(() => state("beside"), soon).toEqual(merged);
  await expect.poll(() => leaf("session"), soon).toBe("edited");
  expect(await device.page.evaluate(() => window.desk.flush(20_000))).toEqual({ pending: 0 });

  await relay.kill();
  await relay.restart();
  await device.page.evaluate(() => window.desk.reconnect());
  await device.page.evaluate(() => window.stock.doc.getMap("state").set("/after", "restart"));
  await expect.poll(() => state("beside"), soon).toEqual({ ...merged, after: "restart" });

  // A client that was never there reads what both left behind.
  const late = new Doc();
  const provider = new WebsocketProvider(`${relay.url}/y`, "beside", late, {
    params: { actorId },
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    disableBc: true,
  });
  try {
    await expect.poll(() => late.getMap("state").get("/after"), soon).toBe("restart");
    expect(late.getMap("state").get("/stock")).toBe("edited");
    expect(late.getMap("state").get("/session")).toBe("edited");
  } finally {
    provider.destroy();
    late.destroy();
    await device.page.evaluate(() => window.stock.provider.destroy());
  }
});

test("[P54, C30] a stock client on a session that does not exist is told once and stays away", async () => {
  const doc = new Doc();
  let opened = 0;
  const Counting = class extends WebSocket {
    constructor(url: string, protocols?: string[]) {
      super(url, protocols);
      opened += 1;
    }
  };
  const provider = new WebsocketProvider(`${relay.url}/y`, "never-written", doc, {
    params: { actorId },
    WebSocketPolyfill: Counting as unknown as typeof globalThis.WebSocket,
    disableBc: true,
  });
  try {
    const code = await new Promise((resolve) => {
      provider.on("connection-close", (event) => resolve(event?.code));
    });
    expect(code).toBe(4404);
    await expect.poll(() => provider.shouldConnect, soon).toBe(false);
    expect(opened).toBe(1);
  } finally {
    provider.destroy();
    doc.destroy();
  }
});
