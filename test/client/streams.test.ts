import { describe, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { MAX_STREAMS_PER_SESSION, SILENT_MS } from "../../src/sync/stream-hub.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { begin, openTab, rowsOf, say, textsIn } from "./setting.ts";

async function twoTabs(options: { readonly relay: boolean } = { relay: true }) {
  const { world, b } = await begin(2);
  const disk = new MemoryDisk();
  const tabs = new TestTabs(world.clock);
  const open = async () => {
    const tab = tabs.open();
    const cable = world.network.cable();
    if (!options.relay) cable.cut();
    return { ...(await openTab(world, { disk, tabs: tab, cable })), tab };
  };
  const one = await open();
  const two = await open();
  await world.clock.advance(1_000);
  return { world, b, open, one, two };
}

/** What a page shows: the messages, and behind them what is being written. */
function shown({ messages, streams }: SyncedSession): string[] {
  return [
    ...messages.entries.map(({ message }) => textOf(message)),
    ...streams.entries.map(({ text }) => `${text}…`),
  ];
}

/** Each picture that a page would draw, of which it is told by either list. */
function pictures(session: SyncedSession): string[][] {
  const seen: string[][] = [];
  const look = (): void => {
    seen.push(shown(session));
  };
  session.messages.subscribe(look);
  session.streams.subscribe(look);
  return seen;
}

describe("streams, in the tabs of one profile", () => {
  for (const relay of [true, false]) {
    test(`[C26, H1] a follower writes, the leader shows it, the message takes its place in one frame (relay: ${relay})`, async () => {
      const { world, b, one, two } = await twoTabs({ relay });
      await world.during(one.session.append({ messages: [say("asked")] }));
      const seen = [pictures(one.session), pictures(two.session)];
      const stream = two.session.stream({ runId: "run-1" });
      for (const word of ["It ", "is ", "42."]) {
        stream.write(word);
        await world.clock.advance(40);
      }
      expect(stream.text).toBe("It is 42.");
      expect(shown(one.session)).toEqual(["asked", "It is 42.…"]);
      expect(one.session.streams.entries).toMatchObject([
        { id: stream.id, role: "assistant", runId: "run-1", text: "It is 42." },
      ]);
      await world.during(stream.finish());
      await world.clock.advance(1_000);
      for (const tab of seen) {
        expect(tab.at(-1)).toEqual(["asked", "It is 42."]);
        const begun = tab.findIndex((picture) => picture.includes("It is 42.…"));
        expect(begun).toBeGreaterThan(-1);
        for (const picture of tab.slice(begun))
          expect([
            ["asked", "It is 42.…"],
            ["asked", "It is 42."],
          ]).toContainEqual(picture);
      }
      expect((await world.during(one.session.history())).at(-1)?.id).toBe(stream.id);
      expect(await world.during(textsIn(b.session))).toEqual(relay ? ["asked", "It is 42."] : []);
      await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
    });
  }

  test("[C26] a tab that is loaded in the middle shows earlier messages once and goes on where the stream was", async () => {
    const { world, open, one, two } = await twoTabs();
    await world.during(one.session.append({ messages: [say("asked")] }));
    const stream = one.session.stream();
    stream.write("first half, ");
    await world.clock.advance(100);
    two.database.kill();
    two.tab.kill();
    const three = await open();
    const seen = pictures(three.session);
    await world.clock.advance(100);
    expect(shown(three.session)).toEqual(["asked", "first half, …"]);
    stream.write("second half");
    await world.clock.advance(100);
    await world.during(stream.finish());
    await world.clock.advance(100);
    const order = seen.map((picture) => picture.join("|")).filter((text, at, all) => text !== all[at - 1]);
    expect(order.slice(order.indexOf("asked|first half, …"))).toEqual([
      "asked|first half, …",
      "asked|first half, second half…",
      "asked|first half, second half",
    ]);
    await world.during(Promise.all([one.client.close(), three.client.close(), world.close()]));
  });

  test("[C58] a stop keeps what was written, marked with its run, and cannot end a newer run", async () => {
    const { world, one, two } = await twoTabs();
    pictures(two.session);
    const old = one.session.stream({ runId: "old" });
    old.write("unfinished 😀".slice(0, -1));
    await world.during(old.stop());
    expect(() => old.write("more")).toThrow(expect.objectContaining({ code: "closed" }));
    const newer = one.session.stream({ runId: "new" });
    newer.write("goes on");
    await world.during(Promise.all([old.stop(), old.finish()]));
    await world.clock.advance(100);
    expect(two.session.streams.entries).toMatchObject([{ runId: "new", text: "goes on" }]);
    await world.during(newer.finish());
    const history = await world.during(two.session.history());
    expect(history.map((message) => [textOf(message), message.metadata])).toEqual([
      ["unfinished ", { stopped: true, runId: "old" }],
      ["goes on", {}],
    ]);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });

  test("[C60] a stream of one session is never shown in another", async () => {
    const { world, one, two } = await twoTabs();
    const other = two.client.session("other");
    const seen = pictures(other);
    const stream = one.session.stream();
    stream.write("of the one");
    await world.clock.advance(100);
    await world.during(stream.finish());
    await world.clock.advance(100);
    expect(seen.flat()).toEqual([]);
    expect(other.streams.entries).toEqual([]);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });

  test("[H8] another actor's tabs in the same browser hear nothing of it", async () => {
    const { world } = await begin(1);
    const tabs = new TestTabs(world.clock);
    const ann = await openTab(world, { tabs: tabs.open() });
    const eve = await openTab(world, { tabs: tabs.open(), options: { actorId: "eve" } });
    const seen = pictures(eve.session);
    ann.session.stream().write("secret");
    await world.clock.advance(1_000);
    expect(ann.session.streams.entries).toHaveLength(1);
    expect([seen.flat(), eve.session.streams.entries]).toEqual([[], []]);
    await world.during(Promise.all([ann.client.close(), eve.client.close(), world.close()]));
  });

  test("[H7] what is not to be stored is neither streamed nor appended, and a running stream is in no row", async () => {
    const { world, one } = await twoTabs();
    for (const role of ["system", "tool"] as const)
      expect(() => one.session.stream({ role })).toThrow(expect.objectContaining({ path: "role" }));
    const stream = one.session.stream();
    stream.write("only in memory");
    await world.clock.advance(1_000);
    expect(JSON.stringify(await rowsOf(one.database))).not.toContain("only in memory");
    expect(() => stream.finish({ role: "system", content: "x" })).toThrow(
      expect.objectContaining({ path: "message.role" }),
    );
    const thought = { type: "reasoning", text: "thought" } as const;
    await world.during(
      stream.finish({ role: "assistant", content: [thought, { type: "text", text: "said" }] }),
    );
    expect(JSON.stringify(await rowsOf(one.database))).not.toContain("thought");
    expect(await world.during(textsIn(one.session))).toEqual(["said"]);
    await world.during(world.close());
  });

  test("[H9] streams are bounded in length and number, and one whose tab was killed ends after a silence", async () => {
    const { world, one, two } = await twoTabs();
    const first = two.session.stream();
    first.write("x".repeat(1_048_576));
    expect(() => first.write("x")).toThrow(expect.objectContaining({ path: "delta" }));
    for (let n = 1; n < MAX_STREAMS_PER_SESSION; n += 1) two.session.stream().write(`${n}`);
    expect(() => two.session.stream()).toThrow(expect.objectContaining({ code: "limit-reached" }));
    await world.clock.advance(SILENT_MS * 2);
    expect(one.session.streams.entries).toHaveLength(MAX_STREAMS_PER_SESSION);
    two.database.kill();
    two.tab.kill();
    await world.clock.advance(SILENT_MS + 10_000);
    expect(one.session.streams.entries).toEqual([]);
    await world.during(Promise.all([one.client.close(), world.close()]));
  });

  test("[H1] closing a session keeps what its streams had written", async () => {
    const { world, one, two } = await twoTabs();
    one.session.stream().write("kept");
    one.session.stream();
    await world.during(one.session.close());
    expect(await world.during(textsIn(two.session))).toEqual(["kept"]);
    await world.during(Promise.all([one.client.close(), two.client.close(), world.close()]));
  });
});
