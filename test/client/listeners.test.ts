import { afterEach, expect, test, vi } from "vitest";
import { begin, say, textsIn } from "./setting.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("[H10, H12] listeners that throw stop neither the sync nor the close", async () => {
  const uncaught = vi.fn();
  const queue = globalThis.queueMicrotask;
  vi.stubGlobal("queueMicrotask", (run: () => void) => {
    queue(() => {
      try {
        run();
      } catch (error) {
        uncaught(error);
      }
    });
  });
  const { world, a, b } = await begin(2);
  const fail = (): void => {
    throw new Error("the application's");
  };
  a.client.subscribe(fail);
  a.client.sessions.subscribe(fail);
  a.session.subscribe(fail);
  a.session.messages.subscribe(fail);
  a.cable.drop();
  await world.during(a.session.append({ messages: [say("1")] }));
  await world.during(
    a.session.updateState((draft) => {
      draft.step = 1;
    }),
  );
  await world.settle();
  await world.during(b.session.append({ messages: [say("2")] }));
  await world.settle();
  expect(a.client.status).toMatchObject({ link: "online", pending: 0, lastError: undefined });
  expect(await world.during(textsIn(a.session))).toEqual(["1", "2"]);
  expect(await world.during(b.session.state())).toEqual({ step: 1 });
  expect(uncaught).toHaveBeenCalled();
  await world.during(a.client.close());
  expect(a.client.status.link).toBe("closed");
  await world.during(world.close());
});
