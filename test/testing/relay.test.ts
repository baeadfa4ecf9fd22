import { expect, test } from "vitest";
import { openClient } from "../../src/open-client.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import { TestNetwork } from "../../src/testing/network.ts";
import { testRelay } from "../../src/testing/relay.ts";

test("[H2] the relay of a test keeps what it acknowledged in its storage, over restarts", async () => {
  const clock = new TestClock();
  const relay = await testRelay({ clock });
  const network = new TestNetwork({ clock, accept: relay.accept });
  const open = () => {
    const env = testEnvironment({ clock, sockets: network.cable() });
    return openClient({ url: "ws://relay", actorId: "ada", storage: "memory" }, { env });
  };
  const first = await open();
  await first.session("talk").append({ messages: [{ role: "user", content: "kept" }] });
  await clock.until(() => first.status.pending === 0);
  await relay.close();
  network.dropAll();
  const again = await testRelay({ clock, storage: relay.storage });
  network.accept = again.accept;
  const second = await open();
  await clock.until(() => second.status.link === "online");
  const history = second.session("talk").history();
  await clock.advance(1_000);
  expect((await history).map(({ content }) => content)).toMatchObject([[{ type: "text", text: "kept" }]]);
  for (const part of [first, second, again]) await part.close();
});
