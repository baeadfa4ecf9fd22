import { describe, expect, test } from "vitest";
import type { ChannelEvents } from "../../src/sync/link-channels.ts";
import { VirtualSocket, virtualSocketClass } from "../../src/sync/virtual-socket.ts";
import { FAULTS, type FaultCode } from "../../src/wire/fault.ts";

function channelled(connected = true) {
  const log: unknown[] = [];
  const events: ChannelEvents[] = [];
  const Socket = virtualSocketClass({
    open: (given) => {
      if (!connected) return undefined;
      events.push(given);
      return { send: (message) => log.push(message), close: () => log.push("channel closed") };
    },
    leaving: (message) => log.push(["leaving", message]),
    refused: (code) => log.push(`refused ${code}`),
  });
  const socket = new Socket();
  socket.onopen = () => log.push("open");
  socket.onmessage = ({ data }) => log.push(data);
  socket.onclose = ({ code, reason }) => log.push(`close ${code} ${reason}`);
  const channel = (): ChannelEvents => {
    const [first] = events;
    if (first === undefined) throw new Error("no channel");
    return first;
  };
  return { socket, log, channel };
}

describe("a virtual socket", () => {
  test("[P50] opens when its channel does; before that nothing is sent or received", () => {
    const { socket, log, channel } = channelled();
    expect(socket.readyState).toBe(socket.CONNECTING);
    socket.send(Uint8Array.of(1));
    channel().received(Uint8Array.of(2));
    expect(log).toEqual([]);
    channel().opened();
    channel().opened();
    expect([socket.readyState, log]).toEqual([socket.OPEN, ["open"]]);
    expect(socket).toBeInstanceOf(VirtualSocket);
  });

  test("[P51] messages pass unchanged, received ones as buffers of their own", () => {
    const { socket, log, channel } = channelled();
    channel().opened();
    const frame = Uint8Array.of(7, 0, 1, 2);
    channel().received(frame.subarray(1));
    frame.fill(9);
    socket.send(Uint8Array.of(0, 2, 5));
    expect(log.slice(1)).toEqual([
      Uint8Array.of(0, 1, 2).buffer,
      ["leaving", Uint8Array.of(0, 2, 5)],
      Uint8Array.of(0, 2, 5),
    ]);
  });

  test.each(Object.keys(FAULTS) as FaultCode[])(
    "[P50] a channel closed as %s closes the socket once, with its number",
    (code) => {
      const { socket, log, channel } = channelled();
      channel().closed(code);
      channel().closed(code);
      socket.close();
      expect(log).toEqual([`close ${FAULTS[code].close ?? 1011} ${code}`, `refused ${code}`]);
      expect(socket.readyState).toBe(socket.CLOSED);
    },
  );

  test("[P50] a lost connection closes with 1006 and refuses nothing", () => {
    const { socket, log, channel } = channelled();
    channel().opened();
    channel().closed(undefined);
    socket.send(Uint8Array.of(1));
    expect(log).toEqual(["open", "close 1006 "]);
  });

  test("[P50] closing gives the channel back and tells nobody", () => {
    const { socket, log, channel } = channelled();
    channel().opened();
    socket.close();
    socket.close();
    channel().received(Uint8Array.of(1));
    expect(log).toEqual(["open", "channel closed"]);
  });

  test("[P50] without a connection it closes in the next turn, when its owner listens", async () => {
    const { socket, log } = channelled(false);
    expect([socket.readyState, log]).toEqual([socket.CONNECTING, []]);
    await Promise.resolve();
    expect([socket.readyState, log]).toEqual([socket.CLOSED, ["close 1006 "]]);
  });
});
