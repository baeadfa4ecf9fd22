import { describe, expect, test } from "vitest";
import { MemoryDisk } from "../../src/store/memory-disk.ts";
import type { RunRow, SessionRow } from "../../src/store/sync-rows.ts";
import type { World } from "../sim/world.ts";
import { begin, openTab, rowsOf, say, type Tab, textsIn } from "./setting.ts";

/** A device whose client has stored a conversation of the relay's, an unsent message behind it, and was closed. */
async function stored(messages: number): Promise<{ world: World; disk: MemoryDisk; texts: string[] }> {
  const { world, a } = await begin(1);
  const texts = Array.from({ length: messages }, (_, n) => `${n}`);
  await world.during(
    a.session.append({ messages: texts.map(say), state: { n: 1 }, metadata: { title: "T" } }),
  );
  const other = a.client.session("other");
  await world.during(other.append({ messages: [say("o")] }, { until: "confirmed" }));
  const disk = new MemoryDisk();
  const tab = await openTab(world, { disk });
  await world.clock.advance(2_000);
  expect(await world.during(textsIn(tab.session))).toEqual(texts);
  tab.cable.cut();
  await world.during(tab.session.append({ messages: [say("unsent")] }));
  await world.during(tab.client.close());
  return { world, disk, texts };
}

/** Opens it again, without a network, after `spoil` has been at its rows. */
async function spoiled(world: World, disk: MemoryDisk, spoil: (tab: Tab) => Promise<void>): Promise<Tab> {
  const before = await openTab(world, { disk });
  before.cable.cut();
  await spoil(before);
  await world.during(before.client.close());
  const tab = await openTab(world, { disk });
  return tab;
}

const aside = async (tab: Tab) =>
  ((await rowsOf(tab.database)).meta as { key: string; value: unknown }[]).filter(({ key }) =>
    key.startsWith("aside/"),
  );

describe("rows that are missing", () => {
  test("[C8] the rows of a session's log are gone but its row and the cursor are there: it is downloaded, and never shown blank", async () => {
    const { world, disk, texts } = await stored(250);
    const tab = await spoiled(world, disk, ({ database }) =>
      database.write(["runs"], (tx) => tx.deleteRange("runs", { prefix: ["talk"] })),
    );
    const shown: number[] = [];
    tab.session.messages.subscribe(() => shown.push(tab.session.messages.entries.length));
    expect(await world.during(textsIn(tab.session))).toHaveLength(251);
    await world.clock.advance(3_000);
    expect(await world.during(textsIn(tab.session))).toEqual([...texts, "unsent"]);
    expect((await world.during(tab.session.load()))?.damaged).toBeUndefined();
    expect(Math.min(...shown)).toBeGreaterThanOrEqual(50);
    expect(tab.session.messages.entries.at(-1)?.delivery).toBe("confirmed");
    expect(tab.client.status).toMatchObject({ pending: 0, rejected: 0 });
    expect(tab.env.reporter.reports.some(({ level }) => level === "error")).toBe(true);
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });

  test("[C8] only some of the rows are gone: what stands before them is not fetched again", async () => {
    const { world, disk, texts } = await stored(250);
    const tab = await spoiled(world, disk, ({ database }) =>
      database.write(["runs"], (tx) =>
        tx.deleteRange("runs", { prefix: ["talk", 0], from: [100], to: [200] }),
      ),
    );
    const pulls: unknown[] = [];
    tab.cable.watch(({ direction, data }) => {
      if (direction === "up" && typeof data === "string" && data.includes('"type":"pull"'))
        pulls.push(JSON.parse(data).have.count);
    });
    await world.during(textsIn(tab.session));
    await world.clock.advance(3_000);
    expect(await world.during(textsIn(tab.session))).toEqual([...texts, "unsent"]);
    expect(pulls[0]).toBe(100);
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });

  test("[C8] a session's row is gone, or all of them, while the catalog's cursor survived: the catalog is read again", async () => {
    for (const gone of [["other"], ["other", "talk"]]) {
      const { world, disk, texts } = await stored(3);
      const tab = await spoiled(world, disk, ({ database }) =>
        database.write(["sessions", "runs"], async (tx) => {
          for (const id of gone) {
            await tx.delete("sessions", [id]);
            await tx.deleteRange("runs", { prefix: [id] });
          }
        }),
      );
      await world.clock.advance(3_000);
      const listed = (await world.during(tab.client.sessions.list())).entries.map(({ id }) => id);
      expect(listed.toSorted()).toEqual(["other", "talk"]);
      expect(await world.during(textsIn(tab.client.session("other")))).toEqual(["o"]);
      expect(await world.during(textsIn(tab.session))).toEqual([...texts, "unsent"]);
      await world.during(Promise.all([tab.client.close(), world.close()]));
    }
  });

  test("[C8, H11] where nothing is missing nothing is read again, however often it starts and whatever is deleted", async () => {
    const { world, disk } = await stored(3);
    for (let times = 0; times < 3; times++) {
      const tab = await openTab(world, { disk });
      const asked: number[] = [];
      tab.cable.watch(({ direction, data }) => {
        if (direction === "up" && typeof data === "string" && data.includes('"type":"catalog"'))
          asked.push(JSON.parse(data).cursor);
      });
      await world.clock.advance(2_000);
      expect(asked[0]).toBeGreaterThan(0);
      await world.during(tab.client.session(`new ${times}`).append({ messages: [say("x")] }));
      await world.during(tab.client.sessions.delete(times === 1 ? "other" : `new ${times}`));
      await world.during(tab.client.flush());
      await world.during(tab.client.close());
    }
    await world.during(world.close());
  });
});

describe("rows that cannot be read", () => {
  test("[C59, H10] one message that does not parse: the others load, it is set aside as it was found, and fetched again", async () => {
    const { world, disk, texts } = await stored(120);
    const spoil = (tab: Tab): Promise<void> =>
      tab.database.write(["runs"], async (tx) => {
        const [row] = await tx.list("runs", { prefix: ["talk"], limit: 1 });
        if (row === undefined) throw new Error("no row");
        const messages = row.messages.with(40, { id: 7, content: "no message" });
        await tx.put("runs", { ...row, messages });
      });
    const tab = await spoiled(world, disk, spoil);
    tab.cable.cut();
    // Without the relay it is told, and the others load.
    const errors: unknown[] = [];
    tab.client.subscribe(() => errors.push(tab.client.status.lastError));
    const offline = await world.during(tab.session.load());
    expect(offline?.damaged).toMatchObject([{ index: 40 }]);
    expect(offline?.messages).toHaveLength(121);
    expect(errors).toContainEqual(expect.objectContaining({ code: "storage", reason: "corrupt" }));
    tab.cable.heal();
    tab.client.reconnect();
    await world.clock.advance(3_000);
    const online = await world.during(tab.session.load());
    expect(online?.damaged).toBeUndefined();
    expect(await world.during(textsIn(tab.session))).toEqual([...texts, "unsent"]);
    expect(await aside(tab)).toHaveLength(1);
    expect(JSON.stringify(await aside(tab))).toContain("no message");
    expect(tab.client.status).toMatchObject({ pending: 0, rejected: 0 });
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });

  const spoilt: Record<string, (row: SessionRow) => unknown> = {
    "no head": ({ head: _, ...row }) => row,
    "a view that is none": (row) => ({ ...row, view: "?" }),
    "a head of text": (row) => ({ ...row, head: { generation: "x", count: null } }),
    "nothing but its id": ({ id }) => ({ id }),
  };
  for (const [what, spoil] of Object.entries(spoilt)) {
    test(`[C59, C8, H10] a session's row with ${what}: the others load, it is set aside, the session is fetched again, what is unsent is sent`, async () => {
      const { world, disk, texts } = await stored(3);
      const tab = await spoiled(world, disk, ({ database }) =>
        database.write(["sessions"], async (tx) => {
          const row = await tx.get("sessions", ["talk"]);
          if (row !== undefined) await tx.put("sessions", spoil(row) as SessionRow);
        }),
      );
      expect(await world.during(textsIn(tab.client.session("other")))).toEqual(["o"]);
      await world.clock.advance(3_000);
      expect(await world.during(textsIn(tab.session))).toEqual([...texts, "unsent"]);
      expect(await world.during(tab.session.state())).toEqual({ n: 1 });
      expect(await world.during(tab.session.metadata())).toEqual({ title: "T" });
      expect((await aside(tab)).map(({ key }) => key)).toEqual(["aside/sessions/talk"]);
      expect(tab.client.status).toMatchObject({ pending: 0, rejected: 0 });
      await world.during(Promise.all([tab.client.close(), world.close()]));
    });
  }

  test("[C59] a row of a log that says nothing of its messages is set aside, and its messages are fetched again", async () => {
    const { world, disk, texts } = await stored(130);
    const tab = await spoiled(world, disk, ({ database }) =>
      database.write(["runs"], async (tx) => {
        const [row] = await tx.list("runs", { prefix: ["talk"], limit: 1 });
        if (row !== undefined) await tx.put("runs", { ...row, messages: "gone" } as unknown as RunRow);
      }),
    );
    await world.during(textsIn(tab.session));
    await world.clock.advance(3_000);
    expect(await world.during(textsIn(tab.session))).toEqual([...texts, "unsent"]);
    expect(await aside(tab)).toMatchObject([{ value: { messages: "gone" } }]);
    await world.during(Promise.all([tab.client.close(), world.close()]));
  });
});
