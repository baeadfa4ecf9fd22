import { expect, test } from "vitest";
import { applyUpdate, Doc } from "yjs";
import { memoryStorage } from "../../../server/storage/memory.ts";
import { type Faults, faultyStorage } from "../faulty-storage.ts";
import { append, pull } from "../ops.ts";
import { testRelay } from "../raw-client.ts";
import { YjsClient } from "../yjs-client.ts";
import { opened } from "./fixture.ts";

const WRITE_MS = 800;
/** Every 25 ms of a write's time, its end, and after it. */
const delays = Array.from({ length: 34 }, (_, step) => step * 25);

/** A relay whose storage takes its time for writes, one session of it, and a client with its channel open. */
async function slow() {
  const { storage, faults } = faultyStorage(memoryStorage());
  const setting = await opened({ storage });
  const first = await setting.join();
  const apply = storage.apply.bind(storage);
  const { clock } = setting.relay;
  storage.apply = async (write) => {
    await new Promise<void>((resolve) => clock.after(WRITE_MS, resolve));
    return apply(write);
  };
  return { ...setting, storage, faults, first };
}

type Setting = Awaited<ReturnType<typeof slow>>;

/** Who opens the session again, and what it sees of the state in the end. */
const openers: readonly [string, (setting: Setting) => Promise<() => Promise<unknown>>][] = [
  [
    "another device",
    async ({ join, exchange }) => {
      const { yjs } = await join(2);
      return async () => {
        await exchange([yjs]);
        return yjs.map.get("/a");
      };
    },
  ],
  [
    "a stock client",
    async ({ relay, exchange }) => {
      const yjs = new YjsClient(relay.connect({ url: "/y/s?actorId=ann" }));
      yjs.sync();
      await exchange([yjs]);
      return async () => {
        await exchange([yjs]);
        return yjs.map.get("/a");
      };
    },
  ],
  [
    "another relay process on the same storage",
    async ({ storage, exchange, incarnation, relay, setup }) => {
      // It is told to end, and waits for what is under way.
      const closing = relay.core.close();
      await relay.clock.advance(WRITE_MS);
      await closing;
      expect(setup.closed?.code).toBe(1013);
      const next = await testRelay({ storage, clock: relay.clock });
      const client = await next.client();
      client.say({ type: "open-channel", channel: 1, session: "s", incarnation });
      await next.settle();
      const yjs = new YjsClient(client, 1);
      yjs.sync();
      return async () => {
        await exchange([yjs]);
        return yjs.map.get("/a");
      };
    },
  ],
];

test.each(openers)(
  "[C3] a state write takes 800 ms, the session is closed and opened again after 0 to 825 ms by %s: nothing is missing",
  async (_, openAgain) => {
    for (const delayMs of delays) {
      const setting = await slow();
      setting.first.yjs.map.set("/a", 1);
      await setting.relay.settle();
      setting.first.client.drop();
      await setting.relay.clock.advance(delayMs);
      const seen = await openAgain(setting);
      await setting.relay.clock.advance(2 * WRITE_MS);
      expect([delayMs, await seen()]).toEqual([delayMs, 1]);
    }
  },
);

test("[C3] an append takes 800 ms, and its device goes and comes back after 0 to 825 ms: it is there once", async () => {
  for (const delayMs of delays) {
    const { relay, head, incarnation, setup } = await slow();
    const op = append("s", ["b"], { base: head, incarnation });
    setup.say(op);
    setup.say({ type: "ping", id: 1 });
    await relay.settle();
    setup.drop();
    await relay.clock.advance(delayMs);
    // The one device sends again what was not acknowledged; the other one only reads.
    const [back, reader] = [await relay.client(), await relay.client()];
    back.say(op);
    reader.say(pull("s", incarnation, { id: "early" }));
    await relay.clock.advance(3 * WRITE_MS);
    expect(back.of("ack")).toMatchObject([{ opId: op.opId, head: { count: 2, lastId: "b" } }]);
    const early = reader.of("page").flatMap((page) => page.messages.map(({ message }) => message.id));
    const pushed = reader.of("push").flatMap((push) => push.append?.messages ?? []);
    // What was not in the page came as a push: a reader misses nothing, whenever it came.
    expect([...new Set([...early, ...pushed.map(({ message }) => message.id)])]).toEqual(["a", "b"]);
    const page = await reader.expect("page", pull("s", incarnation));
    expect(page.messages.map(({ message }) => message.id)).toEqual(["a", "b"]);
  }
});

test("[C3] closed and opened five times within one write: one document at a time, nothing is missing", async () => {
  const { relay, first, join, exchange, faults } = await slow();
  first.yjs.map.set("/a", 1);
  await relay.settle();
  let { client } = first;
  for (let round = 0; round < 5; round += 1) {
    client.drop();
    await relay.clock.advance(100);
    ({ client } = await join(1));
    expect(relay.core.size.channels).toBe(1);
  }
  await relay.clock.advance(WRITE_MS);
  const { yjs } = await join(2);
  await exchange([yjs]);
  expect(yjs.map.get("/a")).toBe(1);
  // The document was never let go of while something was unsaved, so it was never loaded without it.
  expect(faults.loads).toBe(1);
});

test("[C3] a relay that is told to end while a state write is under way ends when that is stored, and loses nothing", async () => {
  const { relay, first, storage, stored } = await slow();
  first.yjs.map.set("/a", 1);
  await relay.settle();
  let ended = false;
  const closing = relay.core.close().then(() => {
    ended = true;
  });
  await relay.clock.advance(WRITE_MS - 1);
  expect(ended).toBe(false);
  await relay.clock.advance(1);
  expect(ended).toBe(true);
  await closing;
  const next = await testRelay({ storage, clock: relay.clock });
  expect(await stored()).toMatchObject({ updates: [expect.anything()] });
  await next.core.close();
});

/** How a write may fail once. */
const failures: readonly [string, (faults: Faults, storage: ReturnType<typeof memoryStorage>) => void][] = [
  [
    "is thrown back",
    (faults) => {
      faults.refuse = once();
    },
  ],
  [
    "is stored, and its answer lost",
    (faults) => {
      faults.forget = once();
    },
  ],
  [
    "is answered with try-again",
    (_, storage) => {
      const fails = once();
      const apply = storage.apply.bind(storage);
      storage.apply = async (write) =>
        fails(write) ? { ok: false, code: "try-again", message: "Not now" } : apply(write);
    },
  ],
];

function once(): Faults["refuse"] {
  let failed = false;
  return ({ kind }) => {
    if (kind !== "state" || failed) return false;
    failed = true;
    return true;
  };
}

test.each(
  failures.flatMap(([how, fail]) =>
    (["stays", "leaves", "leaves before it failed"] as const).map((then) => ({ how, fail, then })),
  ),
)("[C4] a state write $how once, and the client $then: it is stored without a further edit", async (way) => {
  const { storage, faults } = faultyStorage(memoryStorage());
  const { relay, join, exchange, stored } = await opened({ storage });
  const { client, yjs } = await join();
  const durable = yjs.durable;
  way.fail(faults, storage);
  yjs.map.set("/a", 1);
  if (way.then !== "leaves before it failed") await relay.settle();
  if (way.then !== "stays") client.drop();
  await relay.clock.advance(1_000);
  const held = await stored();
  // Twice, where the answer was lost: that changes nothing.
  const doc = new Doc();
  if (typeof held === "object") for (const update of held.updates) applyUpdate(doc, update);
  expect(doc.getMap("state").toJSON()).toEqual({ "/a": 1 });
  if (way.then === "stays") {
    await exchange([yjs]);
    expect(yjs.durable).toBe(durable + 1);
  } else expect(relay.core.size.channels).toBe(0);
  const late = await join(2);
  expect(late.yjs.map.toJSON()).toEqual({ "/a": 1 });
  expect(relay.clock.waiting).toBe(0);
});
