import { expect, test } from "vitest";
import { LiveRead } from "../../src/react/live-read.ts";
import { Listeners } from "../demo/fake-session.ts";

/** A source whose reads end when the test says so. */
function source() {
  const changes = new Listeners();
  const reads: { resolve: (value: string) => void; reject: (error: unknown) => void }[] = [];
  const live = new LiveRead<string>(
    changes.add,
    () => new Promise((resolve, reject) => reads.push({ resolve, reject })),
  );
  const told: unknown[] = [];
  const listen = (): (() => void) => live.subscribe(() => told.push(live.current().value));
  return { changes, reads, live, told, listen };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("nothing is read before anybody listens, and nothing after nobody does", async () => {
  const { changes, reads, listen } = source();
  changes.tell();
  expect(reads).toHaveLength(0);
  const stop = listen();
  expect(reads).toHaveLength(1);
  expect(changes.count).toBe(1);
  stop();
  expect(changes.count).toBe(0);
  changes.tell();
  expect(reads).toHaveLength(1);
});

test("changes during a read cause one more read, and the last one is what shows", async () => {
  const { changes, reads, live, told, listen } = source();
  listen();
  for (let n = 0; n < 10; n += 1) changes.tell();
  reads[0]?.resolve("first");
  await settled();
  expect(reads).toHaveLength(2);
  expect(live.current()).toEqual({ phase: "ready", value: "first" });
  reads[1]?.resolve("second");
  await settled();
  expect(reads).toHaveLength(2);
  expect(told).toEqual(["first", "second"]);
});

test("what a read brings after everybody left, or after a new start, is dropped", async () => {
  const { reads, live, told, listen } = source();
  listen()();
  const stop = listen();
  expect(reads).toHaveLength(2);
  reads[1]?.resolve("new");
  await settled();
  reads[0]?.resolve("stale");
  await settled();
  expect(live.current().value).toBe("new");
  expect(told).toEqual(["new"]);
  stop();
});

test("a failed read shows its error beside the value before, and the next change heals it", async () => {
  const { changes, reads, live, listen } = source();
  listen();
  reads[0]?.resolve("good");
  await settled();
  changes.tell();
  const failure = new Error("disk");
  reads[1]?.reject(failure);
  await settled();
  expect(live.current()).toEqual({ phase: "failed", value: "good", error: failure });
  changes.tell();
  reads[2]?.resolve("healed");
  await settled();
  expect(live.current()).toEqual({ phase: "ready", value: "healed" });
});

test("a refresh resolves when what changed before it has been read", async () => {
  const { reads, live, listen } = source();
  listen();
  let refreshed = false;
  const refresh = live.refresh().then(() => {
    refreshed = true;
  });
  reads[0]?.resolve("before");
  await settled();
  expect(refreshed).toBe(false);
  reads[1]?.resolve("after");
  await refresh;
  expect(live.current().value).toBe("after");
});

test("one function that listens twice is told twice, and stops once for each", () => {
  const { changes, live } = source();
  const listener = (): void => {};
  const first = live.subscribe(listener);
  const second = live.subscribe(listener);
  first();
  first();
  expect(changes.count).toBe(1);
  second();
  expect(changes.count).toBe(0);
});
