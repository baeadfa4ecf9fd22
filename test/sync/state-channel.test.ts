import { createEncoder, toUint8Array, writeVarUint } from "lib0/encoding";
import { describe, expect, test, vi } from "vitest";
import { Awareness, encodeAwarenessUpdate } from "y-protocols/awareness";
import { writeUpdate } from "y-protocols/sync";
import type { WebsocketProvider } from "y-websocket";
import { Doc, encodeStateAsUpdate } from "yjs";
import { awarenessMessage } from "./channel-relay.ts";
import { cleanups, opened, setting, stateOf } from "./channel-setting.ts";
import { LIMITS } from "./link-relay.ts";

describe("a session's state over the link", () => {
  test("[P50] the channel is open when the relay says so, and both sides then hold the same", async () => {
    const { on, relay, channel, doc, log } = setting();
    await on.clock.advance(0);
    doc.getMap("state").set("/mine", 1);
    relay.doc.getMap("state").set("/theirs", 2);
    expect(channel.phase).toBe("closed");
    channel.connect();
    channel.connect();
    expect(channel.phase).toBe("opening");
    await on.clock.advance(0);
    expect([channel.phase, channel.synced]).toEqual(["open", true]);
    expect(stateOf(doc)).toEqual({ "/mine": 1, "/theirs": 2 });
    expect(stateOf(relay.doc)).toEqual({ "/mine": 1, "/theirs": 2 });
    expect(relay.seats).toHaveLength(1);
    expect(log).toContain("synced");
  });

  test("[P51] changes flow both ways; what comes from the relay has the channel's origin and is not sent back", async () => {
    const { on, relay, channel, doc } = await opened();
    const origins: unknown[] = [];
    doc.on("update", (_update: Uint8Array, origin: unknown) => origins.push(origin));
    const seat = relay.seats[0];
    const before = seat?.updates ?? 0;
    relay.doc.getMap("state").set("/theirs", 2);
    await on.clock.advance(0);
    expect(stateOf(doc)).toEqual({ "/theirs": 2 });
    expect(origins).toEqual([channel.origin]);
    expect(seat?.updates).toBe(before);
    doc.getMap("state").set("/mine", 1);
    await on.clock.advance(0);
    expect(stateOf(relay.doc)).toEqual({ "/mine": 1, "/theirs": 2 });
  });

  test("[P50] a channel for another incarnation is closed as deleted, and no state is exchanged", async () => {
    const { on, relay, channel, doc, log } = setting("life 0");
    await on.clock.advance(0);
    doc.getMap("state").set("/mine", 1);
    channel.connect();
    await on.clock.advance(600_000);
    expect(log).toEqual(["closed deleted"]);
    expect(channel.phase).toBe("closed");
    expect(relay.closed).toEqual([]);
    expect(on.visits[0]?.binary).toEqual([]);
    expect(on.visits[0]?.frames.filter(({ type }) => type === "open-channel")).toHaveLength(1);
  });

  test("[P53] a channel that the relay closes tells why, and does not open by itself again", async () => {
    const { on, relay, channel, log } = await opened();
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    log.length = 0;
    relay.end(seat, "invalid-state");
    await on.clock.advance(600_000);
    expect([channel.phase, log]).toEqual(["closed", ["closed invalid-state"]]);
    expect(relay.seats).toEqual([]);
    channel.connect();
    await on.clock.advance(0);
    expect(channel.phase).toBe("open");
  });

  test("[P10] what is too large for a frame is not sent; the channel closes as too-large and the link goes on", async () => {
    const { on, relay, channel, channels, doc, log } = await opened();
    log.length = 0;
    doc.getMap("state").set("/long", "x".repeat(LIMITS.maxStateBytes + 512));
    expect([channel.phase, log]).toEqual(["closed", ["closed too-large"]]);
    await on.clock.advance(600_000);
    expect(on.link.status.link).toBe("online");
    expect(relay.closed).toEqual([1]);
    expect([relay.seats.length, channels.size]).toEqual([0, 0]);
    channel.connect();
    await on.clock.advance(0);
    expect(log).toEqual(["closed too-large", "closed too-large"]);
  });

  test("[P51] presence goes out and comes in, and others leave when the connection does", async () => {
    const { on, relay, channel, awareness } = await opened();
    awareness.setLocalState({ name: "Ada" });
    await on.clock.advance(0);
    expect(relay.presence).toHaveLength(1);
    const otherDoc = new Doc();
    const other = new Awareness(otherDoc);
    cleanups.push(() => other.destroy());
    other.setLocalState({ name: "Bob" });
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    relay.say(seat, awarenessMessage(encodeAwarenessUpdate(other, [otherDoc.clientID])));
    await on.clock.advance(0);
    expect(awareness.getStates().get(otherDoc.clientID)).toEqual({ name: "Bob" });
    on.cable.drop();
    await on.clock.advance(0);
    expect([...awareness.getStates().values()]).toEqual([{ name: "Ada" }]);
    expect(channel.phase).toBe("closed");
  });

  test("[P50] disconnect says good-bye to the relay, and a connect right after opens another channel", async () => {
    const { on, relay, channel, awareness } = await opened();
    awareness.setLocalState({ name: "Ada" });
    channel.disconnect();
    channel.connect();
    await on.clock.advance(0);
    expect(relay.closed).toEqual([1]);
    expect(relay.seats.map((seat) => seat.channel)).toEqual([2]);
    expect(channel.phase).toBe("open");
  });

  test("[P50] without a connection connect changes nothing, and can be asked again", async () => {
    const { on, channel, channels, log } = await opened();
    on.cable.cut();
    await on.clock.advance(0);
    channel.connect();
    await on.clock.advance(0);
    expect([channel.phase, channels.size]).toEqual(["closed", 0]);
    on.cable.heal();
    await on.clock.until(() => on.link.status.link === "online");
    channel.connect();
    await on.clock.advance(0);
    expect(channel.phase).toBe("open");
    expect(log.filter((entry) => entry.startsWith("closed"))).toEqual([]);
  });

  test("[P51] what is still under way to a channel that was closed here reaches nobody and harms nothing", async () => {
    const { on, relay, channel, doc } = await opened();
    on.cable.delayMs = 20;
    relay.doc.getMap("state").set("/late", 1);
    await on.clock.advance(10);
    channel.disconnect();
    await on.clock.advance(100);
    expect(stateOf(doc)).toEqual({});
    expect(on.link.status).toEqual({ link: "online", lastError: undefined });
  });

  test("[P51] a message that cannot be read ends the connection as a relay that cannot be understood", async () => {
    const { on, relay } = await opened();
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    relay.say(seat, Uint8Array.of(0, 9));
    await on.clock.advance(0);
    expect(on.link.status.lastError?.code).toBe("protocol");
    await on.clock.until(() => on.link.status.link === "online");
    expect(on.cable.mostOpen).toBe(1);
  });
});

describe("y-websocket's own timers", () => {
  test("[C33] a quiet channel is not closed by the provider's own watch", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    const { relay, channel, log } = await opened();
    const provider = channel.origin as WebsocketProvider;
    provider.wsLastMessageReceived = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(channel.phase).toBe("open");
    expect(relay.closed).toEqual([]);
    expect(log.filter((entry) => entry.startsWith("closed"))).toEqual([]);
    // What is left is the awareness's own, which belongs to the owner of the document.
    expect(vi.getTimerCount()).toBe(1);
  });

  test("[C32] the provider makes no attempt of its own after a lost connection or a refusal", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    const { on, relay, channel, channels } = await opened();
    on.cable.drop();
    await on.clock.until(() => on.link.status.link === "online");
    await vi.advanceTimersByTimeAsync(60_000);
    await on.clock.advance(0);
    expect([channel.phase, channels.size]).toEqual(["closed", 0]);
    channel.connect();
    await on.clock.advance(0);
    const seat = relay.seats.at(-1);
    if (seat === undefined) throw new Error("no seat");
    relay.end(seat, "try-again");
    await on.clock.advance(0);
    await vi.advanceTimersByTimeAsync(60_000);
    await on.clock.advance(0);
    expect([channel.phase, channels.size]).toEqual(["closed", 0]);
  });

  test("[C45] a destroyed channel leaves no timer, no listener and no process hook behind", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    const hooks = process.listenerCount("exit");
    const { on, channel, channels, doc, awareness } = await opened();
    expect(process.listenerCount("exit")).toBe(hooks);
    on.cable.drop();
    await on.clock.until(() => on.link.status.link === "online");
    channel.connect();
    await on.clock.advance(0);
    channel.destroy();
    awareness.destroy();
    await vi.advanceTimersByTimeAsync(0);
    await on.clock.advance(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(channels.size).toBe(0);
    doc.getMap("state").set("/after", 1);
    await vi.advanceTimersByTimeAsync(60_000);
    await on.clock.advance(0);
    expect(channel.phase).toBe("closed");
    expect(on.visits.at(-1)?.binary.length).toBeGreaterThan(0);
  });

  test("[P23] a large state update made elsewhere arrives in one message and is applied", async () => {
    const { on, relay, doc } = await opened();
    const source = new Doc();
    for (let index = 0; index < 200; index++) source.getMap("state").set(`/k${index}`, index);
    const seat = relay.seats[0];
    if (seat === undefined) throw new Error("no seat");
    const encoder = createEncoder();
    writeVarUint(encoder, 0);
    writeUpdate(encoder, encodeStateAsUpdate(source));
    relay.say(seat, toUint8Array(encoder));
    await on.clock.advance(0);
    expect(stateOf(doc)).toEqual(stateOf(source));
  });
});
