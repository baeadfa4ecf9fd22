import { describe, expect, test } from "vitest";
import type { Socket } from "../../src/env/socket.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { TestNetwork } from "../../src/testing/network.ts";
import { seededRandom } from "../../src/testing/random.ts";

function setUp(seed = 1) {
  const clock = new TestClock();
  const relaySaw: string[] = [];
  const clientSaw: string[] = [];
  const relaySockets: Socket[] = [];
  const network = new TestNetwork({
    clock,
    random: seededRandom(seed),
    accept: (socket, url) => {
      relaySockets.push(socket);
      relaySaw.push(`accepted ${url}`);
      return {
        received: (data) => relaySaw.push(String(data)),
        closed: (code) => relaySaw.push(`closed ${code}`),
      };
    },
  });
  const cable = network.cable();
  const connect = (): Socket =>
    cable.connect("ws://relay", {
      opened: () => clientSaw.push("opened"),
      received: (data) => clientSaw.push(String(data)),
      closed: (code) => clientSaw.push(`closed ${code}`),
    });
  return { clock, cable, network, relaySaw, clientSaw, relaySockets, connect };
}

describe("the test network", () => {
  test("[P2] frames arrive in order, whatever delays are drawn for them", async () => {
    const { clock, cable, relaySaw, connect } = setUp();
    cable.delayMs = [0, 50];
    const socket = connect();
    await clock.advance(200);
    const sent = Array.from({ length: 100 }, (_, index) => `frame ${index}`);
    for (const frame of sent) socket.send(frame);
    expect(socket.bufferedBytes).toBeGreaterThan(0);
    clock.jump(-86_400_000);
    await clock.advance(200);
    expect(relaySaw).toEqual(["accepted ws://relay", ...sent]);
    expect(socket.bufferedBytes).toBe(0);
  });

  test("[P9] what the relay sends before it closes arrives before the close, with its code", async () => {
    const { clock, relaySockets, relaySaw, clientSaw, connect } = setUp();
    connect();
    await clock.advance(0);
    relaySockets[0]?.send("fault");
    relaySockets[0]?.close(4401);
    relaySockets[0]?.send("too late");
    await clock.advance(0);
    expect(clientSaw).toEqual(["opened", "fault", "closed 4401"]);
    expect(relaySaw.at(-1)).toBe("closed 4401");
  });

  test("[H12] each side hears of the end exactly once when both close at once", async () => {
    const { clock, cable, relaySockets, relaySaw, clientSaw, connect } = setUp();
    const socket = connect();
    await clock.advance(0);
    socket.close(1000);
    socket.close(1000);
    relaySockets[0]?.close(1013);
    cable.drop();
    await clock.advance(60_000);
    expect(clientSaw.filter((event) => event.startsWith("closed"))).toHaveLength(1);
    expect(relaySaw.filter((event) => event.startsWith("closed"))).toHaveLength(1);
    expect(cable.open).toBe(0);
  });

  test("[C34] a silent cut leaves the connection half open, also after healing; a new one works", async () => {
    const { clock, cable, relaySaw, clientSaw, connect } = setUp();
    const socket = connect();
    await clock.advance(0);
    cable.cut({ silently: true });
    socket.send("lost");
    const hanging = connect();
    await clock.advance(5_000);
    cable.heal();
    socket.send("lost too");
    await clock.advance(5_000);
    expect(clientSaw).toEqual(["opened"]);
    expect(relaySaw).toEqual(["accepted ws://relay"]);
    hanging.close();
    socket.close();
    await clock.advance(30_000);
    expect(clientSaw).toEqual(["opened", "closed 1006", "closed 1006"]);
    connect().close();
    connect();
    await clock.advance(0);
    expect(clientSaw.at(-1)).toBe("opened");
  });

  test("[C32] a cut that is told ends connections on both sides and fails new ones until it heals", async () => {
    const { clock, cable, relaySaw, clientSaw, connect } = setUp();
    connect();
    await clock.advance(0);
    cable.cut();
    await clock.advance(0);
    expect(relaySaw.at(-1)).toBe("closed 1006");
    connect();
    await clock.advance(0);
    expect(clientSaw).toEqual(["opened", "closed 1006", "closed 1006"]);
    cable.heal();
    connect();
    await clock.advance(0);
    expect(clientSaw.at(-1)).toBe("opened");
    expect([cable.connects, cable.mostOpen, cable.open]).toEqual([3, 1, 1]);
  });

  test("[H4] op frames can be doubled; others never are", async () => {
    const { clock, cable, relaySaw, connect } = setUp();
    cable.duplicateOps = 1;
    const socket = connect();
    await clock.advance(0);
    socket.send('{"type":"append","opId":"a"}');
    socket.send('{"type":"ping","id":1}');
    await clock.advance(0);
    expect(relaySaw.slice(1)).toEqual([
      '{"type":"append","opId":"a"}',
      '{"type":"append","opId":"a"}',
      '{"type":"ping","id":1}',
    ]);
  });

  test("[H12] the same seed makes the same run", async () => {
    const run = async (seed: number): Promise<string> => {
      const { clock, cable, network, connect } = setUp(seed);
      const trace: string[] = [];
      cable.delayMs = [1, 100];
      network.accept = (socket) => ({
        received: (data) => socket.send(data),
        closed: () => {},
      });
      cable.watch(({ direction, data }) => trace.push(`${clock.now()} ${direction} ${String(data)}`));
      const socket = connect();
      await clock.advance(300);
      for (let index = 0; index < 20; index++) socket.send(`frame ${index}`);
      await clock.advance(300);
      return trace.join("\n");
    };
    expect(await run(7)).toBe(await run(7));
    expect(await run(7)).not.toBe(await run(8));
  });
});
