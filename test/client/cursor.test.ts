import { expect, test } from "vitest";
import { ACTOR } from "../sim/device.ts";
import { begin, say, textsIn, watchFrames } from "./setting.ts";

test("[P32, P41, P42, P44, C62] a push that never came leaves a gap: the cursor waits, and what was missed is asked for", async () => {
  const { world, a, b } = await begin(2);
  await world.during(a.session.append({ messages: [say("0")] }, { until: "confirmed" }));
  await world.settle();
  // Takes pushes out of the way to b, as a bus that loses messages does.
  let losing = false;
  let lost = 0;
  const { accept } = world.network;
  world.network.accept = (socket, url) =>
    accept(
      {
        send: (data) => {
          if (losing && typeof data === "string" && data.includes('"type":"push"')) lost += 1;
          else socket.send(data);
        },
        close: (code, reason) => socket.close(code, reason),
        get bufferedBytes() {
          return socket.bufferedBytes;
        },
      },
      url,
    );
  b.cable.drop();
  await world.settle();
  const cursors: number[] = [];
  b.database.watch(() => {
    void b.database
      .read(["meta"], (tx) => tx.get("meta", ["cursor"]))
      .then((row) => cursors.push(Number(row?.value)));
  });
  const { frames } = watchFrames(b.cable);
  losing = true;
  await world.during(a.session.append({ messages: [say("1")] }, { until: "confirmed" }));
  await world.during(a.client.session("other").append({ messages: [say("o")] }, { until: "confirmed" }));
  await world.clock.advance(1_000);
  expect(lost).toBeGreaterThan(1);
  const held = await b.database.read(["meta"], (tx) => tx.get("meta", ["cursor"]));
  expect(held?.value).toBeLessThan(await world.storage.position(ACTOR));
  losing = false;
  await world.during(a.session.append({ messages: [say("2")] }, { until: "confirmed" }));
  await world.clock.advance(2_000);
  expect(frames.filter(({ type, direction }) => type === "catalog" && direction === "up")).not.toEqual([]);
  expect(await world.during(textsIn(b.session))).toEqual(["0", "1", "2"]);
  expect(await world.during(textsIn(b.client.session("other")))).toEqual(["o"]);
  expect(cursors).toEqual([...cursors].sort((x, y) => x - y));
  expect(cursors.at(-1)).toBe(await world.storage.position(ACTOR));
  await world.during(world.close());
});

test("[P32] before the catalog of a new connection is answered, a push is only heard of, and what it told of is there afterwards", async () => {
  const { world, a, b } = await begin(2);
  await world.during(a.session.append({ messages: [say("0")] }, { until: "confirmed" }));
  await world.settle();
  const held: (() => void)[] = [];
  let holding = true;
  const pushes: string[] = [];
  const { accept } = world.network;
  world.network.accept = (socket, url) =>
    accept(
      {
        send: (data) => {
          if (typeof data === "string" && data.includes('"type":"push"')) pushes.push(data);
          if (holding && typeof data === "string" && data.includes('"type":"catalog-page"'))
            held.push(() => socket.send(data));
          else socket.send(data);
        },
        close: (code, reason) => socket.close(code, reason),
        get bufferedBytes() {
          return socket.bufferedBytes;
        },
      },
      url,
    );
  b.cable.drop();
  await world.clock.advance(5_000);
  expect(held).toHaveLength(1);
  // It continues exactly what b holds, and is still not taken: what else was missed is not known yet.
  await world.during(a.session.append({ messages: [say("1")] }, { until: "confirmed" }));
  await world.clock.advance(1_000);
  expect(pushes).not.toEqual([]);
  expect(await world.during(textsIn(b.session))).toEqual(["0"]);
  holding = false;
  for (const send of held) send();
  await world.settle();
  expect(await world.during(textsIn(b.session))).toEqual(["0", "1"]);
  await world.during(world.close());
});

test("[P22, P30, C11] a device that was away gets a short tail with the refusal, a long one in pages, and overwrites nothing", async () => {
  for (const foreign of [3, 1_200]) {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("base")] }, { until: "confirmed" }));
    await world.settle();
    a.cable.delayMs = 400;
    const { frames } = watchFrames(a.cable);
    const work = a.session.append({ messages: [say("mine")] });
    const messages = Array.from({ length: foreign }, (_, n) => say(`f${n}`));
    for (let at = 0; at < foreign; at += 200)
      await b.session.append({ messages: messages.slice(at, at + 200) });
    await world.during(work);
    await world.settle();
    const texts = await world.during(textsIn(a.session));
    expect(texts).toHaveLength(foreign + 2);
    expect(texts).toEqual(await world.during(textsIn(b.session)));
    const [refusal] = frames.filter(({ type }) => type === "refusal");
    expect(refusal?.code ?? "conflict").toBe("conflict");
    for (const page of frames.filter(({ type }) => type === "page"))
      expect((page.messages as unknown[]).length).toBeLessThanOrEqual(500);
    await world.during(world.close());
  }
});
