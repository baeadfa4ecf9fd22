import { expect, test } from "vitest";
import { append, pull } from "./ops.ts";
import { testRelay } from "./raw-client.ts";
import { YjsClient } from "./yjs-client.ts";

async function session() {
  const relay = await testRelay();
  const one = await relay.client();
  const two = await relay.client();
  const { incarnation } = await one.expect("ack", append("s", ["a"]));
  const open = async (client: typeof one, channel: number) => {
    const frames = await client.ask({ type: "open-channel", channel, session: "s", incarnation });
    return { frames, yjs: new YjsClient(client, channel) };
  };
  return { relay, one, two, incarnation, open };
}

test("[P52] a change over a channel is stored, then shared, and counted as durable", async () => {
  const { relay, one, two, incarnation, open } = await session();
  const { yjs: mine, frames } = await open(one, 1);
  expect(frames).toMatchObject([{ type: "channel-opened", channel: 1 }]);
  const { yjs: theirs } = await open(two, 9);
  for (const yjs of [mine, theirs]) yjs.sync();
  await relay.settle();
  for (const yjs of [mine, theirs]) yjs.receive();
  await relay.settle();
  mine.map.set("/plan", 1);
  await relay.settle();
  for (const yjs of [mine, theirs]) yjs.receive();
  expect(theirs.map.get("/plan")).toBe(1);
  expect(mine.durable).toBe(2);
  expect(one.of("push")).toMatchObject([{ entry: { stateCursor: 1, seq: 2 }, state: { after: 0 } }]);
  const page = await two.expect("page", pull("s", incarnation));
  expect(page).toMatchObject({ stateCursor: 1, more: false });
  expect(page.state).toHaveLength(1);
  one.drop();
  two.drop();
  expect(relay.core.size).toEqual({ connections: 0, channels: 0 });
});
