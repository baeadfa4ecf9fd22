import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { sqliteStorage } from "../../server/storage/sqlite.ts";
import { FAULTS } from "../../src/wire/fault.ts";
import { append, EMPTY, edit, pull, remove, replace } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-late-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const storages: readonly [string, () => RelayStorage][] = [
  ["memory", memoryStorage],
  ["SQLite", () => sqliteStorage({ path: join(folder, "late.db") })],
];
const YEAR_MS = 365 * 86_400_000;
const head = { generation: 0, count: 2, lastId: "b" };

describe.each(storages)("on %s", (_, makeStorage) => {
  test("[C43] ops, pulls and channels for a session deleted two years and two restarts ago: a permanent answer each, and it does not come back", async () => {
    const storage = makeStorage();
    const relay = await testRelay({ storage });
    const first = await relay.client();
    const { incarnation } = await first.expect("ack", append("s", ["a", "b"]));
    await first.expect("ack", remove("s", "gone", incarnation));
    await relay.core.close();
    await relay.clock.advance(YEAR_MS);
    const between = await testRelay({ storage, clock: relay.clock, seed: 2 });
    await between.core.close();
    await relay.clock.advance(YEAR_MS);
    const later = await testRelay({ storage, clock: relay.clock, seed: 3 });
    const late = await later.client();

    const ops = [
      append("s", ["c"], { incarnation, base: head }),
      append("s", ["d"], { incarnation, base: EMPTY }),
      // It never heard its life's name, but knows of messages: they were of the life that is over.
      append("s", ["e"], { incarnation: null, base: head }),
      append("s", ["f"], { incarnation, base: head, rebases: true }),
      replace("s", ["g"], { incarnation, base: head }),
      edit("s", "edit", { incarnation, archived: true }),
    ];
    for (const op of ops) {
      expect(await late.expect("refusal", op)).toMatchObject({ opId: op.opId, code: "deleted" });
      // The same again, as a client would send that missed the answer.
      expect((await late.expect("refusal", op)).code).toBe("deleted");
    }
    // What was done before the deletion is still known as done, and the deletion itself.
    expect(await late.expect("ack", append("s", ["a", "b"]))).toMatchObject({ outcome: "known" });
    expect(await late.expect("ack", remove("s", "gone", incarnation))).toMatchObject({ outcome: "known" });

    expect(await late.expect("not-answered", pull("s", incarnation))).toMatchObject({ code: "deleted" });
    const open = { type: "open-channel", channel: 1, session: "s", incarnation };
    expect(await late.expect("channel-closed", open)).toMatchObject({ code: "deleted" });
    const stock = later.connect({ url: "/y/s?actorId=ann" });
    await later.settle();
    expect(stock.closed?.code).toBe(4404);
    const { entries } = await late.expect("catalog-page", { type: "catalog", id: "c", cursor: 0 });
    expect(entries).toMatchObject([{ session: "s", deleted: true }]);
    expect((await storage.inspect()).messages).toBe(0);
    await later.core.close();
  });
});

test("[C43] deleted is not an answer that is tried again", () => {
  expect(FAULTS.deleted.remedy).toBe("fix");
});
