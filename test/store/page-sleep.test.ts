import { expect, test } from "vitest";
import { DexieDatabase } from "../../src/store/dexie-database.ts";
import { TestPage } from "../../src/testing/page.ts";
import { TEST_SCHEMA, type TestRows } from "../contracts/test-rows.ts";
import { fakeBrowser } from "../support/fake-browser.ts";

test("[C40] a page that is frozen in the middle of a transaction lets another tab write, and does its own again when it wakes", async () => {
  const browser = fakeBrowser();
  const page = new TestPage();
  const frozen = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "sleeps", ...browser, page });
  const other = new DexieDatabase<TestRows>(TEST_SCHEMA, { name: "sleeps", ...browser });
  let runs = 0;
  const begun = new Promise<void>((resolve) => {
    void frozen
      .write(["notes"], async (tx) => {
        runs += 1;
        await tx.put("notes", { id: "own", value: runs });
        resolve();
        // Goes on for as long as nobody undoes it.
        while (runs === 1) await tx.get("notes", ["own"]);
      })
      .then(() => (written = true));
  });
  let written = false;
  await begun;
  page.signal("freeze");
  await other.write(["notes"], (tx) => tx.put("notes", { id: "other", value: 1 }));
  const waiting = frozen.read(["notes"], (tx) => tx.list("notes"));
  expect((await other.read(["notes"], (tx) => tx.list("notes"))).map(({ id }) => id)).toEqual(["other"]);
  expect([runs, written]).toEqual([1, false]);

  page.signal("resume");
  expect((await waiting).map(({ id }) => id)).toContain("other");
  await expect.poll(() => written).toBe(true);
  expect(await frozen.read(["notes"], (tx) => tx.get("notes", ["own"]))).toEqual({ id: "own", value: 2 });
  await Promise.all([frozen.close(), other.close()]);
});
