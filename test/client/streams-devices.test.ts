import { describe, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { SESSION } from "../sim/device.ts";
import type { World } from "../sim/world.ts";
import { begin, openTab, replaceRelay, say, textsIn, watchFrames } from "./setting.ts";

/** What a page shows: the messages, and behind them what is being written. */
function shown({ messages, streams }: SyncedSession): string[] {
  return [
    ...messages.entries.map(({ message }) => textOf(message)),
    ...streams.entries.map(({ text }) => `${text}…`),
  ];
}

/** Each different picture that a page would draw, in order. */
function pictures(session: SyncedSession): string[] {
  const seen: string[] = [];
  const look = (): void => {
    const now = shown(session).join("|");
    if (now !== seen.at(-1)) seen.push(now);
  };
  session.messages.subscribe(look);
  session.streams.subscribe(look);
  look();
  return seen;
}

/** Two devices of one person, a question asked on the first and seen on the second. */
async function asked() {
  const { world, a, b } = await begin(2);
  pictures(b.session);
  await world.during(a.session.append({ messages: [say("asked")] }));
  await world.settle();
  return { world, a, b };
}

async function words(world: World, stream: { write(delta: string): void }, ...all: string[]): Promise<void> {
  for (const word of all) {
    stream.write(word);
    await world.clock.advance(120);
  }
}

describe("streams, on the devices of one person", () => {
  test("[C26, P72, P74] another device shows the answer as it grows, and its message takes its place in one frame", async () => {
    const { world, a, b } = await asked();
    const seen = pictures(b.session);
    const stream = a.session.stream({ runId: "run-1" });
    await words(world, stream, "It ", "is ", "42.");
    expect(b.session.streams.entries).toMatchObject([
      { id: stream.id, role: "assistant", runId: "run-1", text: "It is 42." },
    ]);
    await world.during(stream.finish());
    await world.settle();
    expect(seen).toEqual([
      "asked",
      "asked|…",
      "asked|It …",
      "asked|It is …",
      "asked|It is 42.…",
      "asked|It is 42.",
    ]);
    expect((await b.session.history()).at(-1)?.id).toBe(stream.id);
    await world.during(world.close());
  });

  test("[C26, P73] a reader that reloads in the middle shows earlier messages once, and goes on where the stream was", async () => {
    const { world, a, b } = await asked();
    const stream = a.session.stream();
    await words(world, stream, "first half, ");
    await world.during(b.reload());
    const seen = pictures(b.session);
    await world.clock.advance(1_000);
    expect(shown(b.session)).toEqual(["asked", "first half, …"]);
    await words(world, stream, "second half");
    await world.during(stream.finish());
    await world.settle();
    expect(seen).toEqual([
      "asked|first half, …",
      "asked|first half, second half…",
      "asked|first half, second half",
    ]);
    await world.during(world.close());
  });

  test("[C26, P75] a writer that is reloaded has lost its stream: others see it end after 30 s, and nothing twice", async () => {
    const { world, a, b } = await asked();
    await words(world, a.session.stream(), "never finished");
    await world.during(a.reload());
    const seen = pictures(b.session);
    await world.clock.advance(5_000);
    expect(shown(b.session)).toEqual(["asked", "never finished…"]);
    // Whoever wrote it is one who reads it now.
    pictures(a.session);
    await world.clock.advance(1_000);
    expect(shown(a.session)).toEqual(["asked", "never finished…"]);
    await world.clock.advance(30_000);
    expect([shown(a.session), shown(b.session)]).toEqual([["asked"], ["asked"]]);
    const again = a.session.stream();
    await words(world, again, "finished");
    await world.during(again.finish());
    await world.settle();
    expect(seen.slice(-2)).toEqual(["asked|finished…", "asked|finished"]);
    await world.during(world.close());
  });

  test("[P71, P72] a cut connection and a relay's restart in the middle leave no hole in the text", async () => {
    const { world, a, b } = await asked();
    const stream = a.session.stream();
    await words(world, stream, "one ", "two ");
    a.cable.cut();
    await words(world, stream, "three ", "four ");
    a.cable.heal();
    a.page.signal("online");
    await world.clock.advance(3_000);
    expect(shown(b.session)).toEqual(["asked", "one two three four …"]);
    await world.restartRelay();
    await words(world, stream, "five ");
    await world.clock.advance(5_000);
    await words(world, stream, "six");
    expect(shown(b.session)).toEqual(["asked", "one two three four five six…"]);
    b.cable.drop();
    await words(world, stream, ", seven");
    await world.clock.advance(3_000);
    expect(shown(b.session)).toEqual(["asked", "one two three four five six, seven…"]);
    await world.during(stream.finish());
    await world.settle();
    expect(shown(b.session)).toEqual(["asked", "one two three four five six, seven"]);
    await world.during(world.close());
  });

  test("[P72] a follower tab's stream goes over the leading tab, and its reader may be a follower too", async () => {
    const { world, a, b } = await asked();
    const [writer, reader] = [await world.during(a.openSecond()), await world.during(b.openSecond())];
    await world.clock.advance(1_000);
    const seen = pictures(reader.session);
    const stream = writer.session.stream();
    await words(world, stream, "from ", "behind");
    expect(shown(reader.session)).toEqual(["asked", "from behind…"]);
    // The leading tab of the writer's browser goes: another one takes over, and the text with it.
    a.database.kill();
    a.tab.kill();
    await world.during(a.client.close());
    await world.clock.advance(15_000);
    await words(world, stream, " and on");
    expect(shown(reader.session)).toEqual(["asked", "from behind and on…"]);
    await world.during(stream.finish());
    await world.clock.advance(5_000);
    expect(shown(reader.session)).toEqual(["asked", "from behind and on"]);
    expect(new Set(seen).size).toBe(seen.length);
    await world.during(Promise.all([writer.client.close(), reader.client.close()]));
    await world.during(world.close());
  });

  test("[P77, C58] a stop on the writing device is seen on the other as a message marked with its run", async () => {
    const { world, a, b } = await asked();
    const [old, newer] = [a.session.stream({ runId: "old" }), a.session.stream({ runId: "new" })];
    await words(world, old, "stopped here");
    await words(world, newer, "goes on");
    await world.during(old.stop());
    await world.settle();
    expect(b.session.streams.entries).toMatchObject([{ runId: "new", text: "goes on" }]);
    const last = (await b.session.history()).at(-1);
    expect([last?.metadata, last === undefined ? "" : textOf(last)]).toEqual([
      { stopped: true, runId: "old" },
      "stopped here",
    ]);
    await world.during(world.close());
  });

  test("[P76, C43] a stream of a session that another device deletes gets a permanent answer, and brings nothing back", async () => {
    const { world, a, b } = await asked();
    const stream = a.session.stream();
    await words(world, stream, "too ");
    await world.during(b.client.sessions.delete(SESSION));
    await world.clock.advance(2_000);
    expect(() => stream.write("late")).toThrow(
      expect.objectContaining({ code: "rejected", reason: "deleted" }),
    );
    await expect(world.during(stream.finish())).rejects.toMatchObject({ reason: "deleted" });
    await expect(world.during(stream.stop())).rejects.toMatchObject({ reason: "deleted" });
    await world.settle();
    expect([a.session.streams.entries, await a.client.sessions.list()]).toEqual([[], { entries: [] }]);
    expect((await b.client.sessions.list()).entries).toEqual([]);
    await world.during(world.close());
  });

  test("[P76, C43] one written offline to a session that was deleted meanwhile is refused when it comes back", async () => {
    const { world, a, b } = await asked();
    a.cable.cut();
    const stream = a.session.stream();
    await words(world, stream, "in the tunnel");
    await world.during(b.client.sessions.delete(SESSION));
    await world.during(b.session.append({ messages: [say("another life")] }));
    await world.clock.advance(2_000);
    a.cable.heal();
    a.page.signal("online");
    await world.clock.advance(5_000);
    await expect(world.during(stream.finish())).rejects.toMatchObject({ reason: "deleted" });
    await world.settle();
    expect(await world.during(textsIn(a.client.session(SESSION)))).toEqual(["another life"]);
    expect(b.session.streams.entries).toEqual([]);
    await world.during(world.close());
  });

  test("[C43] a session deleted on this device in the middle of an answer is not brought back by its end", async () => {
    const { world, a } = await asked();
    a.cable.cut();
    const stream = a.session.stream();
    await words(world, stream, "unwanted");
    await world.during(a.client.sessions.delete(SESSION));
    await expect(world.during(stream.finish())).rejects.toMatchObject({ reason: "deleted" });
    expect((await a.client.sessions.list()).entries).toEqual([]);
    await world.during(world.close());
  });

  test("[P78, H9] a stream that the relay carries no further goes on here, and its message arrives", async () => {
    const { world, a, b } = await asked();
    await replaceRelay(world, { limits: { maxStreamBytes: 8 } });
    await world.clock.advance(5_000);
    const stream = a.session.stream();
    await words(world, stream, "12345678");
    expect(shown(b.session)).toEqual(["asked", "12345678…"]);
    const { frames } = watchFrames(a.cable);
    await words(world, stream, "9", "10", "11");
    expect(frames.filter(({ type }) => type === "stream")).toHaveLength(1);
    expect([shown(a.session).at(-1), shown(b.session)]).toEqual(["1234567891011…", ["asked"]]);
    await world.during(stream.finish());
    await world.settle();
    expect(shown(b.session)).toEqual(["asked", "1234567891011"]);
    await world.during(world.close());
  });

  test("[P72] a client that keeps its data in memory writes for others, too", async () => {
    const { world, b } = await asked();
    const agent = await openTab(world, { options: { storage: "memory" } });
    await world.clock.advance(1_000);
    const stream = agent.session.stream();
    await words(world, stream, "an agent's answer");
    expect(shown(b.session)).toEqual(["asked", "an agent's answer…"]);
    await world.during(stream.finish());
    await world.clock.advance(1_000);
    expect(shown(b.session)).toEqual(["asked", "an agent's answer"]);
    await world.during(agent.client.close());
    await world.during(world.close());
  });

  test("[C26] a stream under an id of the writer's own is replaced by the message that the writer appends itself", async () => {
    const { world, a, b } = await asked();
    const seen = pictures(b.session);
    const stream = a.session.stream({ id: "answer-1" });
    expect(() => a.session.stream({ id: "answer-1" })).toThrow(expect.objectContaining({ path: "id" }));
    await words(world, stream, "It is ", "42.");
    const call = { type: "tool_use", id: "t", name: "sum", input: {} } as const;
    const whole = [
      { role: "assistant", content: [call] },
      { id: stream.id, role: "assistant", content: "It is 42." },
    ] as const;
    await world.during(a.session.append({ messages: whole }, { until: "confirmed" }));
    stream.discard();
    expect(() => stream.write("more")).toThrow(expect.objectContaining({ code: "closed" }));
    await world.settle();
    expect(seen).toEqual(["asked", "asked|…", "asked|It is …", "asked|It is 42.…", "asked||It is 42."]);
    await world.during(world.close());
  });

  test("[C26] a writer that begins again under the same id writes on in the same place, and one that gives up leaves nothing", async () => {
    const { world, a, b } = await asked();
    const seen = pictures(b.session);
    await words(world, a.session.stream({ id: "answer-1" }), "first try");
    await world.during(a.reload());
    await world.clock.advance(2_000);
    const again = a.session.stream({ id: "answer-1" });
    await words(world, again, "second try");
    expect(shown(b.session)).toEqual(["asked", "second try…"]);
    again.discard();
    await world.clock.advance(1_000);
    expect([shown(a.session).slice(-1), shown(b.session)]).toEqual([["asked"], ["asked"]]);
    expect(seen.at(-1)).toBe("asked");
    await world.during(world.close());
  });
});
