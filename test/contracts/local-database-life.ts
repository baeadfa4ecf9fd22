import type { Change, LocalDatabase } from "../../src/store/database.ts";
import { type Case, refused, same } from "./cases.ts";
import { fault, type Place, type TestRows, withRows } from "./test-rows.ts";

/** How databases on one place live beside each other and end. */
export function localDatabaseLifeCases(makePlace: () => Promise<Place>): Case[] {
  const cases: Case[] = [];
  const rule = (name: string, run: () => Promise<void>): void => void cases.push({ name, run });

  rule("[T1] two databases on one place never write at once", async () => {
    const { place, db } = await withRows(makePlace);
    const other = await place.open();
    await db.write(["notes"], (tx) => tx.put("notes", { id: "counter", value: 0 }));
    const increment = (on: LocalDatabase<TestRows>): Promise<void> =>
      on.write(["notes"], async (tx) => {
        const value = Number((await tx.get("notes", ["counter"]))?.value);
        await tx.put("notes", { id: "counter", value: value + 1 });
      });
    await Promise.all(Array.from({ length: 30 }, (_, at) => increment(at % 2 === 0 ? db : other)));
    same(await other.read(["notes"], (tx) => tx.get("notes", ["counter"])), {
      id: "counter",
      value: 30,
    });
    await db.close();
    await other.close();
  });

  rule("[H1, C9] several databases that open one new place at the same moment are all on it", async () => {
    const place = await makePlace();
    const all = await Promise.all(Array.from({ length: 5 }, () => place.open()));
    await Promise.all(
      all.map((db, at) => db.write(["notes"], (tx) => tx.put("notes", { id: `n${at}`, value: at }))),
    );
    for (const db of all) same((await db.read(["notes"], (tx) => tx.list("notes"))).length, all.length);
    for (const db of all) await db.close();
  });

  rule("[H1] another database on the same place sees the commit and is told of it", async () => {
    const { place, db } = await withRows(makePlace);
    const other = await place.open();
    const told: Change[] = [];
    other.watch((change) => told.push(change));
    await db.write(["notes"], (tx) => tx.put("notes", { id: "s9", value: 1 }));
    await place.delivered();
    same(
      told.map(({ tables, sessions }) => [[...tables], [...sessions]]),
      [[["notes"], ["s9"]]],
    );
    same(await other.read(["notes"], (tx) => tx.get("notes", ["s9"])), { id: "s9", value: 1 });
    await other.close();
    await db.write(["notes"], (tx) => tx.put("notes", { id: "s10", value: 1 }));
    await place.delivered();
    same(told.length, 1);
    await db.close();
  });

  rule(
    "[H10] a closed database refuses with a storage error that says so; what was asked before finishes",
    async () => {
      const { place, db } = await withRows(makePlace);
      const last = db.write(["notes"], (tx) => tx.put("notes", { id: "last", value: 1 }));
      await last;
      await db.close();
      await db.close();
      const closed = { code: "storage", reason: "closed" };
      same(fault(await refused(db.read(["notes"], (tx) => tx.list("notes")))), closed);
      same(fault(await refused(db.write(["notes"], (tx) => tx.delete("notes", ["x"])))), closed);
      const again = await place.open();
      same((await again.read(["notes"], (tx) => tx.get("notes", ["last"]))) === undefined, false);
      await again.close();
    },
  );

  rule("[H1] destroy deletes everything; opened again, the database is empty", async () => {
    const { place, db } = await withRows(makePlace);
    await db.destroy();
    const again = await place.open();
    same(await again.read(["lines"], (tx) => tx.list("lines")), []);
    same(await again.read(["notes"], (tx) => tx.list("notes")), []);
    await again.close();
  });

  rule("[C7] a database destroyed by another tab refuses and recreates nothing", async () => {
    const { place, db } = await withRows(makePlace);
    const other = await place.open();
    await other.read(["notes"], (tx) => tx.list("notes"));
    await db.destroy();
    await place.delivered();
    const write = other.write(["notes"], (tx) => tx.put("notes", { id: "ghost", value: 1 }));
    same(fault(await refused(write)), { code: "storage", reason: "reset" });
    const again = await place.open();
    same(await again.read(["notes"], (tx) => tx.list("notes")), []);
    await again.close();
    await other.close();
  });

  return cases;
}
