import { describe, expect, test } from "vitest";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { TestTabs } from "../../src/testing/tabs.ts";
import { begin, openTab, rowsOf, say, textsIn } from "./setting.ts";

describe("wiping, exporting, importing", () => {
  test("[C42] wipe with unsent ops tells how many and deletes nothing; forced it closes and deletes in every tab", async () => {
    const { world, b } = await begin(2);
    const disk = new MemoryDisk();
    const profile = new TestTabs(world.clock);
    const one = await openTab(world, { disk, tabs: profile.open() });
    const two = await openTab(world, { disk, tabs: profile.open() });
    await world.during(one.session.append({ messages: [say("sent")] }));
    await world.during(one.client.flush());
    one.cable.cut();
    await world.during(one.session.append({ messages: [say("1")] }));
    await world.during(two.session.append({ messages: [say("2")] }));
    expect(await world.during(two.client.wipe())).toEqual({ pending: 2 });
    expect(await textsIn(one.session)).toEqual(["sent", "1", "2"]);
    expect(two.client.status.link).not.toBe("closed");
    expect(await world.during(two.client.wipe({ force: true }))).toEqual({ pending: 2 });
    await world.clock.advance(1_000);
    for (const { client, session } of [one, two]) {
      expect(client.status).toMatchObject({ link: "closed", leader: false });
      await expect(session.append({ messages: [say("late")] })).rejects.toMatchObject({ code: "closed" });
      await expect(client.flush()).rejects.toMatchObject({ code: "closed" });
    }
    const left = await rowsOf(new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }));
    expect(Object.values(left).flat()).toEqual([]);
    // The next one to log in here begins with nothing, and gets what the relay has.
    const next = await openTab(world, { disk, tabs: profile.open() });
    await world.clock.advance(1_000);
    expect(await world.during(textsIn(next.session))).toEqual(["sent"]);
    expect(await world.during(textsIn(b.session))).toEqual(["sent"]);
    await world.during(Promise.all([next.client.close(), world.close()]));
  });

  test("[C42] wipe with nothing unsent needs no force, offline too, and takes bounded time", async () => {
    for (const offline of [false, true]) {
      const { world } = await begin(1);
      const disk = new MemoryDisk();
      const { client, session, cable } = await openTab(world, { disk });
      await world.during(session.append({ messages: [say("x")] }));
      await world.during(client.flush());
      if (offline) cable.swallow();
      const before = world.clock.now();
      expect(await world.during(client.wipe())).toEqual({ pending: 0 });
      expect(world.clock.now() - before).toBeLessThan(5_000);
      expect(Object.values(await rowsOf(new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }))).flat()).toEqual(
        [],
      );
      await world.during(world.close());
    }
  });

  test("[H10] an export read back elsewhere gives the same conversations; a second import changes nothing", async () => {
    const { world, a } = await begin(1);
    const other = a.client.session("other", { metadata: { title: "Other" } });
    await world.during(a.session.append({ messages: [say("1"), say("2")], state: { n: 1 } }));
    await world.during(other.append({ messages: [say("o")], state: { list: ["x"] } }));
    await world.during(a.client.sessions.archive("other"));
    a.cable.cut();
    await world.during(a.session.append({ messages: [say("unsent")] }));
    const file = await world.during(a.client.export());
    const target = await openTab(world, { options: { actorId: "bob" } });
    for (let times = 0; times < 2; times++) {
      await world.during(target.client.import(file));
      const revision = (await world.during(target.session.load()))?.revision;
      expect(revision).toEqual({ generation: 0, count: 3 });
    }
    const theirs = target.client.session("other");
    expect((await world.during(target.session.history())).map(({ id }) => id)).toEqual(
      (await a.session.history()).map(({ id }) => id),
    );
    expect(await world.during(theirs.state())).toEqual({ list: ["x"] });
    expect(await world.during(theirs.metadata())).toEqual({ title: "Other" });
    await world.during(target.client.flush());
    expect(target.client.status).toMatchObject({ pending: 0, rejected: 0 });
    // What is newer here stays; what is missing comes behind it.
    await world.during(target.session.replace({ messages: [say("mine")] }));
    await world.during(target.client.import(file));
    expect(await world.during(textsIn(target.session))).toEqual(["mine", "1", "2", "unsent"]);
    await world.during(Promise.all([target.client.close(), world.close()]));
  });

  const head = '{"format":"holdfast-export","version":1}\n';
  const bad: Record<string, { text: string; line: number }> = {
    "an empty file": { text: "", line: 1 },
    "no JSON": { text: "hello", line: 1 },
    "another format": { text: '{"format":"other","version":1}\n', line: 1 },
    "another version": { text: '{"format":"holdfast-export","version":2}\n', line: 1 },
    "a line that is no JSON": { text: `${head}{"id":"good","messages":[]}\n{`, line: 3 },
    "a list": { text: `${head}[]`, line: 2 },
    "no id": { text: `${head}{"messages":[]}`, line: 2 },
    "a blank id": { text: `${head}{"id":" ","messages":[]}`, line: 2 },
    "no messages": { text: `${head}{"id":"x"}`, line: 2 },
    "a bad message": { text: `${head}{"id":"x","messages":[{"role":"nobody"}]}`, line: 2 },
    "an id twice": {
      text: `${head}${JSON.stringify({ id: "x", messages: [same(), same()] })}`,
      line: 2,
    },
  };
  for (const [what, { text, line }] of Object.entries(bad)) {
    test(`[H10] importing ${what} names line ${line} and adds nothing of it`, async () => {
      const { world, a } = await begin(1);
      await expect(world.during(a.client.import(new Blob([text])))).rejects.toMatchObject({
        code: "invalid-input",
        path: expect.stringMatching(new RegExp(`^file\\[${line}\\]`)),
      });
      expect((await a.client.sessions.list()).entries.map(({ id }) => id)).not.toContain("x");
      await world.during(world.close());
    });
  }
});

function same(): object {
  return {
    id: "same",
    role: "user",
    content: [{ type: "text", text: "x" }],
    metadata: {},
    createdAt: "2025-01-01T00:00:00.000Z",
  };
}
