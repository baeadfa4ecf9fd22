import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { openCutProxy } from "./cut-proxy.ts";

async function openEcho(): Promise<{ port: number; close(): void }> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, close: () => server.close() };
}

test("the test cable carries bytes, is cut for old and new connections, and carries them again when healed", async () => {
  const echo = await openEcho();
  const cable = await openCutProxy(echo.port);
  const first = connect(cable.port, "127.0.0.1");
  first.write("one");
  expect(String((await once(first, "data"))[0])).toBe("one");
  expect(cable.bytes).toEqual({ up: 3, down: 3 });
  const broken = new Promise((resolve) => first.once("close", resolve));
  first.on("error", () => {});
  cable.cut();
  await broken;
  const refused = connect(cable.port, "127.0.0.1");
  refused.on("error", () => {});
  await new Promise((resolve) => refused.once("close", resolve));
  expect(cable.open).toBe(0);

  cable.heal();
  const second = connect(cable.port, "127.0.0.1");
  second.write("two");
  expect(String((await once(second, "data"))[0])).toBe("two");
  expect(cable.accepted).toBe(2);

  second.on("error", () => {});
  cable.swallow();
  second.write("lost");
  const third = connect(cable.port, "127.0.0.1");
  third.on("error", () => {});
  await once(third, "connect");
  const heard: string[] = [];
  second.on("data", (bytes) => heard.push(String(bytes)));
  const reset = new Promise((resolve) => second.once("close", resolve));
  third.write("lost too");
  while (cable.open < 2) await new Promise((resolve) => setImmediate(resolve));
  cable.heal();
  if (!second.destroyed) second.destroy();
  await reset;
  expect(heard).toEqual([]);
  third.destroy();
  await cable.close();
  echo.close();
});

test("the test cable keeps back what is answered, and carries it slowly", async () => {
  const echo = await openEcho();
  const cable = await openCutProxy(echo.port);
  const line = connect(cable.port, "127.0.0.1");
  line.on("error", () => {});
  await once(line, "connect");
  cable.hold();
  line.write("held");
  while (cable.bytes.up < 4) await new Promise((resolve) => setImmediate(resolve));
  expect(cable.bytes.down).toBe(0);
  cable.heal();
  expect(String((await once(line, "data"))[0])).toBe("held");

  cable.throttle(100_000);
  const began = performance.now();
  line.write(Buffer.alloc(30_000));
  for (let heard = 0; heard < 30_000; ) heard += (await once(line, "data"))[0].length;
  line.write("after");
  expect(String((await once(line, "data"))[0])).toBe("after");
  expect(performance.now() - began).toBeGreaterThan(250);
  line.destroy();
  await cable.close();
  echo.close();
});
