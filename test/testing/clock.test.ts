import { expect, test } from "vitest";
import { TestClock } from "../../src/testing/clock.ts";

test("[H12] the test clock fires timers in the order of their time, and sets now to it", async () => {
  const clock = new TestClock({ nowMs: 1000 });
  const seen: [string, number][] = [];
  clock.after(20, () => seen.push(["late", clock.now()]));
  clock.after(10, () => seen.push(["first", clock.now()]));
  clock.after(10, () => seen.push(["second", clock.now()]));
  await clock.advance(9);
  expect(seen).toEqual([]);
  await clock.advance(11);
  expect(seen).toEqual([
    ["first", 1010],
    ["second", 1010],
    ["late", 1020],
  ]);
  expect(clock.now()).toBe(1020);
});

test("[H12] the test clock lets promises run between timers, and fires timers they set on the way", async () => {
  const clock = new TestClock();
  const seen: string[] = [];
  clock.after(5, () => {
    void (async () => {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      seen.push("promise");
      clock.after(2, () => seen.push("inner"));
    })();
  });
  clock.after(8, () => seen.push("last"));
  await clock.advance(10);
  expect(seen).toEqual(["promise", "inner", "last"]);
});

test("[H12] a cancelled timer never fires, and cancelling twice harms no other", async () => {
  const clock = new TestClock();
  const seen: string[] = [];
  const cancel = clock.after(1, () => seen.push("cancelled"));
  clock.after(1, () => seen.push("kept"));
  cancel();
  cancel();
  await clock.advance(1);
  expect(seen).toEqual(["kept"]);
  expect(clock.waiting).toBe(0);
});

test("[C20] a jump of the wall clock fires nothing and delays nothing", async () => {
  const clock = new TestClock({ nowMs: 0 });
  let fired = 0;
  clock.after(10, () => fired++);
  clock.jump(86_400_000);
  await clock.advance(0);
  expect(fired).toBe(0);
  clock.jump(-2 * 86_400_000);
  await clock.advance(10);
  expect(fired).toBe(1);
  expect(clock.now()).toBe(-86_400_000 + 10);
});

test("[H12] until runs timers up to the first moment something holds, and fails by name when it never does", async () => {
  const clock = new TestClock({ nowMs: 0 });
  let count = 0;
  const again = (): void => {
    count += 1;
    clock.after(100, again);
  };
  clock.after(100, again);
  await clock.until(() => count === 3);
  expect(clock.now()).toBe(300);
  await expect(clock.until(() => count < 0, 1000)).rejects.toThrow("count < 0");
});
