import { expect, test } from "vitest";
import { begin, say, textsIn } from "./setting.ts";

test("[P32, C18] a device that comes back while another writes without a pause reads, writes and says that it is in step", async () => {
  const { world, a, b } = await begin(2);
  await world.during(a.session.append({ messages: [say("first")] }, { until: "confirmed" }));
  b.cable.cut();
  await world.clock.advance(100);
  b.cable.heal();
  // Several messages of the other device arrive during each of this one's round trips.
  b.cable.delayMs = 100;
  b.client.reconnect();
  let accepted = 0;
  const spoken = ["I came later", "and said more"];
  const other = b.client.session("another session");
  for (const text of spoken)
    void other.append({ messages: [say(text)] }, { until: "confirmed" }).then(() => {
      accepted += 1;
    });
  const stream: string[] = [];
  while (accepted < spoken.length && stream.length < 300) {
    stream.push(`stream ${stream.length}`);
    await world.during(a.session.append({ messages: [say(stream.at(-1) ?? "")] }));
    await world.clock.advance(20);
  }
  expect(accepted).toBe(spoken.length);
  expect(b.client.status).toMatchObject({ link: "online", pending: 0 });
  const behind = stream.length - (await world.during(textsIn(b.session))).length;
  expect(behind).toBeLessThan(20);
  await world.settle();
  const texts = await world.during(textsIn(a.session));
  expect(await world.during(textsIn(b.session))).toEqual(texts);
  expect(texts).toEqual(["first", ...stream]);
  expect(await world.during(textsIn(other))).toEqual(spoken);
  await world.during(world.close());
});
