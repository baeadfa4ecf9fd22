import type { Change, LocalDatabase } from "../../src/store/database.ts";
import { type Case, refused, same } from "./cases.ts";
import { localDatabaseLifeCases } from "./local-database-life.ts";
import { fault, line, type Note, names, type Place, withRows } from "./test-rows.ts";

/** What every {@link LocalDatabase} does, whatever it stands on; for any test runner, or none. */
export function localDatabaseCases(makePlace: () => Promise<Place>): Case[] {
  return [...rowCases(makePlace), ...localDatabaseLifeCases(makePlace)];
}

/** Rows, ranges and transactions. */
function rowCases(makePlace: () => Promise<Place>): Case[] {
  const cases: Case[] = [];
  const rule = (name: string, run: () => Promise<void>): void => void cases.push({ name, run });

  rule("[H1] a row written is there after the write, and after the database is opened again", async () => {
    const { place, db } = await withRows(makePlace);
    const bytes = new Uint8Array([0, 255, 7]);
    await db.write(["lines"], (tx) => tx.put("lines", { session: "z", n: 0, text: "hé", bytes }));
    await db.close();
    const again = await place.open();
    const row = await again.read(["lines"], (tx) => tx.get("lines", ["z", 0]));
    same(row, { session: "z", n: 0, text: "hé", bytes });
    same(await again.read(["lines"], (tx) => tx.get("lines", ["z", 1])), undefined);
    same(await again.read(["notes"], (tx) => tx.get("notes", [""])), { id: "", value: "" });
    await again.close();
  });

  rule("[H1] ranges follow the keys' order, numbers as numbers, from either end", async () => {
    const { db } = await withRows(makePlace);
    const list = (range: object): Promise<string[]> =>
      db.read(["lines"], async (tx) => names(await tx.list("lines", range)));
    same(await list({}), ["a5", "b0", "b1", "b9", "b10", "c7"]);
    same(await list({ prefix: ["b"] }), ["b0", "b1", "b9", "b10"]);
    same(await list({ prefix: ["b"], from: [1], to: [10] }), ["b1", "b9"]);
    same(await list({ prefix: ["b"], from: [2] }), ["b9", "b10"]);
    same(await list({ prefix: ["b"], to: [2], reverse: true }), ["b1", "b0"]);
    same(await list({ prefix: ["b"], reverse: true, limit: 2 }), ["b10", "b9"]);
    same(await list({ prefix: ["b", 9] }), ["b9"]);
    same(await list({ from: ["b", 10] }), ["b10", "c7"]);
    same(await list({ to: ["b"] }), ["a5"]);
    same(await list({ limit: 0 }), []);
    same(await list({ prefix: ["b"], from: [9], to: [1] }), []);
    same(await list({ prefix: ["none"] }), []);
    const notes = await db.read(["notes"], (tx) => tx.list("notes", { from: ["x"], to: ["x2"] }));
    same(
      notes.map(({ id }) => id),
      ["x"],
    );
    const all = await db.read(["notes"], (tx) => tx.list("notes", { reverse: true }));
    same(
      all.map(({ id }) => id),
      ["é", "x2", "x", ""],
    );
    same((await db.read(["notes"], (tx) => tx.list("notes", { prefix: ["x"] }))).length, 1);
    await db.close();
  });

  rule("[H1] an index lists the rows that have its parts, in its order", async () => {
    const { db } = await withRows(makePlace);
    const list = (range: object): Promise<string[]> =>
      db.read(["lines"], async (tx) => names(await tx.list("lines", { by: "recent", ...range })));
    same(await list({}), ["b0", "b1", "b10", "a5", "b9"]);
    same(await list({ reverse: true, limit: 2 }), ["b9", "a5"]);
    same(await list({ to: ["t5", "a"] }), ["b0", "b1", "b10"]);
    same(await list({ prefix: ["t5"] }), ["a5"]);
    await db.write(["lines"], async (tx) => {
      await tx.put("lines", line("b", 0, "t99"));
      await tx.put("lines", line("b", 1));
      await tx.delete("lines", ["a", 5]);
      same(names(await tx.list("lines", { by: "recent" })), ["b10", "b9", "b0"]);
    });
    same(await list({}), ["b10", "b9", "b0"]);
    await db.close();
  });

  rule("[H1] a transaction sees its own writes and deletes before they commit", async () => {
    const { db } = await withRows(makePlace);
    await db.write(["lines"], async (tx) => {
      await tx.put("lines", line("b", 5));
      await tx.put("lines", { session: "b", n: 9, text: "new" });
      await tx.delete("lines", ["b", 0]);
      same(names(await tx.list("lines", { prefix: ["b"] })), ["b1", "b5", "new", "b10"]);
      same(names(await tx.list("lines", { prefix: ["b"], reverse: true, limit: 2 })), ["b10", "new"]);
      same(await tx.get("lines", ["b", 0]), undefined);
      await tx.deleteRange("lines", { prefix: ["b"], from: [5], to: [10] });
      same(names(await tx.list("lines", { prefix: ["b"] })), ["b1", "b10"]);
      await tx.put("lines", line("b", 5));
      await tx.delete("lines", ["nobody", 1]);
    });
    const rows = await db.read(["lines"], (tx) => tx.list("lines", { prefix: ["b"] }));
    same(names(rows), ["b1", "b5", "b10"]);
    await db.close();
  });

  rule(
    "[H1] a transaction whose work fails leaves nothing, and its error reaches the caller unchanged",
    async () => {
      const { db } = await withRows(makePlace);
      const before = await db.read(["lines"], (tx) => tx.list("lines"));
      const failure = new Error("no");
      const write = db.write(["lines", "notes"], async (tx) => {
        await tx.put("lines", line("q", 1));
        await tx.deleteRange("lines", {});
        await tx.put("notes", { id: "q", value: 1 });
        throw failure;
      });
      same((await refused(write)) === failure, true);
      same(await db.read(["lines"], (tx) => tx.list("lines")), before);
      same(await db.read(["notes"], (tx) => tx.get("notes", ["q"])), undefined);
      await db.close();
    },
  );

  rule(
    "[H1] writes of one table run one after another in the order of the calls, reads after them",
    async () => {
      const { db } = await withRows(makePlace);
      await db.write(["notes"], (tx) => tx.put("notes", { id: "counter", value: 0 }));
      const seen: number[] = [];
      const writes = Array.from({ length: 20 }, () =>
        db.write(["notes", "lines"], async (tx) => {
          const value = Number((await tx.get("notes", ["counter"]))?.value);
          await tx.list("lines");
          seen.push(value);
          await tx.put("notes", { id: "counter", value: value + 1 });
        }),
      );
      const read = db.read(["notes"], (tx) => tx.get("notes", ["counter"]));
      same(await read, { id: "counter", value: 20 });
      await Promise.all(writes);
      same(
        seen,
        Array.from({ length: 20 }, (_, at) => at),
      );
      await db.close();
    },
  );

  rule("[H1] a read sees one moment, whatever is written while it runs", async () => {
    const { db } = await withRows(makePlace);
    const writes: Promise<void>[] = [];
    const seen = await db.read(["lines", "notes"], async (tx) => {
      const first = names(await tx.list("lines", { prefix: ["b"] }));
      writes.push(
        db.write(["lines", "notes"], async (inner) => {
          await inner.deleteRange("lines", { prefix: ["b"] });
          await inner.put("notes", { id: "x", value: "changed" });
        }),
      );
      for (let turn = 0; turn < 20; turn += 1) await tx.get("notes", [""]);
      const second = names(await tx.list("lines", { prefix: ["b"] }));
      return { first, second, note: await tx.get("notes", ["x"]) };
    });
    await Promise.all(writes);
    same(seen.second, seen.first);
    same(seen.note, { id: "x", value: "x" });
    same(await db.read(["lines"], (tx) => tx.list("lines", { prefix: ["b"] })), []);
    await db.close();
  });

  rule(
    "[H12] every commit is told once, with its tables and sessions, before the write resolves",
    async () => {
      const { db } = await withRows(makePlace);
      const told: Change[] = [];
      const unwatch = db.watch((change) => told.push(change));
      await db.write(["lines", "notes"], async (tx) => {
        await tx.put("lines", line("s1", 1));
        await tx.delete("lines", ["c", 7]);
      });
      same(told.length, 1);
      same([...(told[0]?.tables ?? [])], ["lines"]);
      same([...(told[0]?.sessions ?? [])].sort(), ["c", "s1"]);
      await db.write(["lines"], async (tx) => void (await tx.get("lines", ["s1", 1])));
      const failing = db.write(["lines"], async (tx) => {
        await tx.put("lines", line("s2", 1));
        throw new Error("no");
      });
      same(String(await refused(failing)), "Error: no");
      same(told.length, 1);
      unwatch();
      await db.write(["lines"], (tx) => tx.put("lines", line("s3", 1)));
      same(told.length, 1);
      await db.close();
    },
  );

  rule("[H10] a row without its key is refused and the transaction leaves nothing", async () => {
    const { db } = await withRows(makePlace);
    const write = db.write(["notes"], async (tx) => {
      await tx.put("notes", { id: "before", value: 1 });
      await tx.put("notes", { value: 1 } as unknown as Note);
    });
    same(fault(await refused(write)).code, "storage");
    same(await db.read(["notes"], (tx) => tx.get("notes", ["before"])), undefined);
    await db.close();
  });

  rule("[H11] thousands of rows in one transaction come back complete and in order", async () => {
    const { db } = await withRows(makePlace);
    await db.write(["lines"], async (tx) => {
      for (let n = 4_999; n >= 0; n -= 1) void tx.put("lines", line("many", n, `u${n % 7}`));
      await tx.put("lines", line("many", 5_000));
    });
    await db.write(["lines"], (tx) =>
      tx.deleteRange("lines", { prefix: ["many"], from: [100], to: [4_900] }),
    );
    const rows = await db.read(["lines"], (tx) => tx.list("lines", { prefix: ["many"] }));
    same(rows.length, 201);
    same(
      rows.every((row, at) => at === 0 || row.n > (rows[at - 1]?.n ?? -1)),
      true,
    );
    const recent = await db.read(["lines"], (tx) => tx.list("lines", { by: "recent", prefix: ["u3"] }));
    same(
      recent.map(({ n }) => n),
      rows.map(({ n }) => n).filter((n) => n < 5_000 && n % 7 === 3),
    );
    await db.close();
  });
  return cases;
}
