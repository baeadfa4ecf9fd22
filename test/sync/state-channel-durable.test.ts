import { describe, expect, test } from "vitest";
import { Awareness } from "y-protocols/awareness";
import { Doc } from "yjs";
import { StateChannel } from "../../src/sync/state-channel.ts";
import { cleanups, opened, setting, stateOf } from "./channel-setting.ts";

describe("the durability of state", () => {
  test("[P52] a change is durable when the relay says so, not when the document is synced", async () => {
    const { on, relay, channel, doc, log } = setting();
    relay.acknowledges = false;
    doc.getMap("state").set("/a", 1);
    doc.getMap("state").set("/b", 2);
    await on.clock.advance(0);
    channel.connect();
    await on.clock.advance(0);
    expect(log).toEqual(["synced"]);
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    relay.acknowledge(seat);
    await on.clock.advance(0);
    expect(log).toEqual(["synced", "durable 2"]);
  });

  test("[P52] updates acknowledged one by one reach their own positions, several at once the last of them", async () => {
    const { on, relay, doc, log } = await opened();
    relay.acknowledges = false;
    log.length = 0;
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    for (const at of ["/a", "/b", "/c"]) doc.getMap("state").set(at, 1);
    await on.clock.advance(0);
    expect(log).toEqual([]);
    relay.acknowledge(seat, seat.updates - 2);
    await on.clock.advance(0);
    expect(log).toEqual(["durable 1"]);
    relay.acknowledge(seat);
    relay.acknowledge(seat);
    await on.clock.advance(0);
    expect(log).toEqual(["durable 1", "durable 3"]);
  });

  test("[P52] an update that leaves before step 2 says nothing of older changes that the relay lacks", async () => {
    const { on, relay, channel, doc, log } = setting();
    await on.clock.advance(0);
    doc.getMap("state").set("/old", 1);
    relay.greets = false;
    channel.connect();
    await on.clock.advance(0);
    doc.getMap("state").set("/new", 2);
    await on.clock.advance(0);
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    expect([seat.updates, log]).toEqual([1, ["synced"]]);
    relay.greet(seat);
    await on.clock.advance(0);
    expect(stateOf(relay.doc)).toEqual({ "/old": 1, "/new": 2 });
    expect([seat.updates, log]).toEqual([2, ["synced", "durable 2"]]);
  });

  test("[P52] counts begin anew with each opening, and what was unacknowledged is claimed again", async () => {
    const { on, relay, channel, doc, log } = await opened();
    relay.acknowledges = false;
    log.length = 0;
    doc.getMap("state").set("/a", 1);
    await on.clock.advance(0);
    on.cable.drop();
    await on.clock.advance(0);
    expect([channel.phase, channel.synced]).toEqual(["closed", false]);
    relay.seats.length = 0;
    doc.getMap("state").set("/b", 2);
    await on.clock.until(() => on.link.status.link === "online");
    relay.acknowledges = true;
    channel.connect();
    await on.clock.advance(0);
    expect(relay.seats[0]?.updates).toBe(1);
    expect(log).toEqual(["synced", "durable 2"]);
    expect(stateOf(relay.doc)).toEqual({ "/a": 1, "/b": 2 });
  });

  test("[P52] a relay that claims more than was sent cannot be believed", async () => {
    const { on, relay, log } = await opened();
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    log.length = 0;
    relay.acknowledge(seat, seat.updates + 1);
    await on.clock.advance(0);
    expect(log).toEqual([]);
    expect(on.link.status.lastError?.code).toBe("protocol");
  });

  test("[P52] many documents share one connection, each with its own channel and counts", async () => {
    const { on, relay, channels } = await opened();
    const others = Array.from({ length: 50 }, (_, index) => {
      const doc = new Doc();
      const awareness = new Awareness(doc);
      const durable: number[] = [];
      const channel = new StateChannel({
        doc,
        awareness,
        session: "s",
        incarnation: "life 1",
        channels,
        position: () => index,
        onDurable: (position) => durable.push(position),
        onClosed: () => {},
      });
      cleanups.push(() => {
        channel.destroy();
        awareness.destroy();
      });
      channel.connect();
      return { doc, durable };
    });
    await on.clock.advance(0);
    others[7]?.doc.getMap("state").set("/seven", 7);
    await on.clock.advance(0);
    expect(on.cable.connects).toBe(1);
    expect(channels.size).toBe(51);
    for (const { doc } of others) expect(stateOf(doc)).toEqual({ "/seven": 7 });
    expect(others.map(({ durable }) => durable.at(-1))).toEqual(others.map((_, index) => index));
    expect(stateOf(relay.doc)).toEqual({ "/seven": 7 });
  });
});
