import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localDatabaseCases } from "../contracts/local-database.ts";
import { enginesHere } from "../support/engines.ts";
import { openStoreBrowser, type StoreBrowser } from "../support/store-browser.ts";
import { until } from "../support/until.ts";

describe.each(enginesHere())("DexieDatabase in $name's IndexedDB", (engine) => {
  let browser: StoreBrowser;
  beforeAll(async () => {
    browser = await openStoreBrowser(engine);
  });
  afterAll(() => browser?.close());

  describe("keeps its contract", () => {
    const names = localDatabaseCases(() => Promise.reject(new Error("the page has the places"))).map(
      ({ name }) => name,
    );
    test.each(names)("%s", async (name) => {
      expect(await browser.run("database", name)).toBe("");
    });
  });

  test("[H1] a tab is told of the other's commit and sees it", async () => {
    const [one, two] = [await browser.openTab(), await browser.openTab()];
    await two.run(async () => {
      const db = window.stores.openDatabase("told");
      await db.open();
      window.stores.kept.change = new Promise((resolve) => {
        db.watch(({ tables, sessions }) => resolve([[...tables], [...sessions]]));
      });
      window.stores.kept.db = db;
    });
    await one.run(() =>
      window.stores.openDatabase("told").write(["notes"], (tx) => tx.put("notes", { id: "n1", value: 1 })),
    );
    const seen = await two.run(async () => {
      const change = await window.stores.kept.change;
      const db = window.stores.kept.db as ReturnType<typeof window.stores.openDatabase>;
      return { change, row: await db.read(["notes"], (tx) => tx.get("notes", ["n1"])) };
    });
    expect(seen).toEqual({ change: [["notes"], ["n1"]], row: { id: "n1", value: 1 } });
  });

  test("[C40] a tab that is killed in the middle of a transaction holds up the other for less than a second", async () => {
    const [one, two] = [await browser.openTab(), await browser.openTab()];
    await two.run(async () => {
      window.stores.kept.db = window.stores.openDatabase("killed");
      await window.stores.openDatabase("killed").open();
    });
    // Keeps its transaction busy for as long as the tab lives.
    const busy = one.run(() =>
      window.stores.openDatabase("killed").write(["notes"], async (tx) => {
        await tx.put("notes", { id: "half", value: 1 });
        window.stores.kept.began = true;
        for (;;) await tx.get("notes", ["half"]);
      }),
    );
    const ended = busy.then(String, String);
    await until("its transaction is open", () => one.run(() => window.stores.kept.began === true));
    const write = two.run(async () => {
      const db = window.stores.kept.db as ReturnType<typeof window.stores.openDatabase>;
      await db.write(["notes"], (tx) => tx.put("notes", { id: "whole", value: 1 }));
      return (await db.read(["notes"], (tx) => tx.list("notes"))).map(({ id }) => id);
    });
    const killedAt = performance.now();
    await one.close();
    expect(await write).toEqual(["whole"]);
    expect(performance.now() - killedAt).toBeLessThan(1_000);
    expect(await ended).not.toBe("undefined");
  });

  test("[C7] a tab whose database another tab deletes refuses, and recreates nothing", async () => {
    const [one, two] = [await browser.openTab(), await browser.openTab()];
    await two.run(async () => {
      const db = window.stores.openDatabase("deleted");
      await db.write(["notes"], (tx) => tx.put("notes", { id: "x", value: 1 }));
      window.stores.kept.db = db;
    });
    await one.run(() => window.stores.openDatabase("deleted").destroy());
    const refused = await two.run(async () => {
      const db = window.stores.kept.db as ReturnType<typeof window.stores.openDatabase>;
      const error = await db
        .write(["notes"], (tx) => tx.put("notes", { id: "ghost", value: 1 }))
        .then(
          () => undefined,
          (reason: unknown) => reason as { code: string; reason: string },
        );
      return [
        error?.code,
        error?.reason,
        (await indexedDB.databases()).some(({ name }) => name === "deleted"),
      ];
    });
    expect(refused).toEqual(["storage", "reset", false]);
  });
});
