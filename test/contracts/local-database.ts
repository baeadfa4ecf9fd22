import { describe, expect, test } from "vitest";
import type { Change, LocalDatabase, Schema } from "../../src/store/database.ts";

export interface Line {
  readonly session: string;
  readonly n: number;
  readonly text: string;
  readonly bytes?: Uint8Array;
  readonly at?: string;
}
export interface Note {
  readonly id: string;
  readonly value: unknown;
}
export interface TestRows {
  lines: Line;
  notes: Note;
}
export const TEST_SCHEMA: Schema<TestRows> = {
  lines: { key: ["session", "n"], indexes: { recent: ["at", "session"] } },
  notes: { key: ["id"] },
};

/** One place that databases can be opened on, as tabs of one browser profile. */
export interface Place {
  open(): Promise<LocalDatabase<TestRows>>;
  /** Resolves once what other tabs were told has had time to arrive. */
  delivered(): Promise<void>;
}

const line = (session: string, n: number, at?: string): Line => ({
  session,
  n,
  text: `${session}${n}`,
  ...(at === undefined ? {} : { at }),
});
const names = (lines: readonly Line[]): string[] => lines.map(({ text }) => text);

/** What every {@link LocalDatabase} does, whatever it stands on. */
export function localDatabaseContract(name: string, makePlace: () => Promise<Place>): void {
  describe(`${name} as a local database`, () => {
    const withRows = async (): Promise<{ place: Place; db: LocalDatabase<TestRows> }> => {
      const place = await makePlace();
      const db = await place.open();
      await db.write(["lines", "notes"], async (tx) => {
        for (const n of [10, 9, 0, 1]) await tx.put("lines", line("b", n, `t${n}`));
        await tx.put("lines", line("a", 5, "t5"));
        await tx.put("lines", line("c", 7));
        for (const id of ["x", "", "é", "x2"]) await tx.put("notes", { id, value: id });
      });
      return { place, db };
    };

    test("[H1] a row written is there after the write, and after the database is opened again", async () => {
      const { place, db } = await withRows();
      const bytes = new Uint8Array([0, 255, 7]);
      await db.write(["lines"], (tx) => tx.put("lines", { session: "z", n: 0, text: "hé", bytes }));
      await db.close();
      const again = await place.open();
      const row = await again.read(["lines"], (tx) => tx.get("lines", ["z", 0]));
      expect(row).toEqual({ session: "z", n: 0, text: "hé", bytes });
      expect(await again.read(["lines"], (tx) => tx.get("lines", ["z", 1]))).toBeUndefined();
      expect(await again.read(["notes"], (tx) => tx.get("notes", [""]))).toEqual({ id: "", value: "" });
      await again.close();
    });

    test("[H1] ranges follow the keys' order, numbers as numbers, from either end", async () => {
      const { db } = await withRows();
      const list = (range: object): Promise<string[]> =>
        db.read(["lines"], async (tx) => names(await tx.list("lines", range)));
      expect(await list({})).toEqual(["a5", "b0", "b1", "b9", "b10", "c7"]);
      expect(await list({ prefix: ["b"] })).toEqual(["b0", "b1", "b9", "b10"]);
      expect(await list({ prefix: ["b"], from: [1], to: [10] })).toEqual(["b1", "b9"]);
      expect(await list({ prefix: ["b"], from: [2] })).toEqual(["b9", "b10"]);
      expect(await list({ prefix: ["b"], to: [2], reverse: true })).toEqual(["b1", "b0"]);
      expect(await list({ prefix: ["b"], reverse: true, limit: 2 })).toEqual(["b10", "b9"]);
      expect(await list({ prefix: ["b", 9] })).toEqual(["b9"]);
      expect(await list({ from: ["b", 10] })).toEqual(["b10", "c7"]);
      expect(await list({ to: ["b"] })).toEqual(["a5"]);
      expect(await list({ limit: 0 })).toEqual([]);
      expect(await list({ prefix: ["b"], from: [9], to: [1] })).toEqual([]);
      expect(await list({ prefix: ["none"] })).toEqual([]);
      const notes = await db.read(["notes"], (tx) => tx.list("notes", { from: ["x"], to: ["x2"] }));
      expect(notes.map(({ id }) => id)).toEqual(["x"]);
      const all = await db.read(["notes"], (tx) => tx.list("notes", { reverse: true }));
      expect(all.map(({ id }) => id)).toEqual(["é", "x2", "x", ""]);
      expect(await db.read(["notes"], (tx) => tx.list("notes", { prefix: ["x"] }))).toHaveLength(1);
      await db.close();
    });

    test("[H1] an index lists the rows that have its parts, in its order", async () => {
      const { db } = await withRows();
      const list = (range: object): Promise<string[]> =>
        db.read(["lines"], async (tx) => names(await tx.list("lines", { by: "recent", ...range })));
      expect(await list({})).toEqual(["b0", "b1", "b10", "a5", "b9"]);
      expect(await list({ reverse: true, limit: 2 })).toEqual(["b9", "a5"]);
      expect(await list({ to: ["t5", "a"] })).toEqual(["b0", "b1", "b10"]);
      expect(await list({ prefix: ["t5"] })).toEqual(["a5"]);
      await db.write(["lines"], async (tx) => {
        await tx.put("lines", line("b", 0, "t99"));
        await tx.put("lines", line("b", 1));
        await tx.delete("lines", ["a", 5]);
        expect(names(await tx.list("lines", { by: "recent" }))).toEqual(["b10", "b9", "b0"]);
      });
      expect(await list({})).toEqual(["b10", "b9", "b0"]);
      await db.close();
    });

    test("[H1] a transaction sees its own writes and deletes before they commit", async () => {
      const { db } = await withRows();
      await db.write(["lines"], async (tx) => {
        await tx.put("lines", line("b", 5));
        await tx.put("lines", { session: "b", n: 9, text: "new" });
        await tx.delete("lines", ["b", 0]);
        expect(names(await tx.list("lines", { prefix: ["b"] }))).toEqual(["b1", "b5", "new", "b10"]);
        expect(names(await tx.list("lines", { prefix: ["b"], reverse: true, limit: 2 }))).toEqual([
          "b10",
          "new",
        ]);
        expect(await tx.get("lines", ["b", 0])).toBeUndefined();
        await tx.deleteRange("lines", { prefix: ["b"], from: [5], to: [10] });
        expect(names(await tx.list("lines", { prefix: ["b"] }))).toEqual(["b1", "b10"]);
        await tx.put("lines", line("b", 5));
        await tx.delete("lines", ["nobody", 1]);
      });
      const rows = await db.read(["lines"], (tx) => tx.list("lines", { prefix: ["b"] }));
      expect(names(rows)).toEqual(["b1", "b5", "b10"]);
      await db.close();
    });

    test("[H1] a transaction whose work fails leaves nothing, and its error reaches the caller unchanged", async () => {
      const { db } = await withRows();
      const before = await db.read(["lines"], (tx) => tx.list("lines"));
      const failure = new Error("no");
      const write = db.write(["lines", "notes"], async (tx) => {
        await tx.put("lines", line("q", 1));
        await tx.deleteRange("lines", {});
        await tx.put("notes", { id: "q", value: 1 });
        throw failure;
      });
      await expect(write).rejects.toBe(failure);
      expect(await db.read(["lines"], (tx) => tx.list("lines"))).toEqual(before);
      expect(await db.read(["notes"], (tx) => tx.get("notes", ["q"]))).toBeUndefined();
      await db.close();
    });

    test("[H1] writes of one table run one after another in the order of the calls, reads after them", async () => {
      const { db } = await withRows();
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
      expect(await read).toEqual({ id: "counter", value: 20 });
      await Promise.all(writes);
      expect(seen).toEqual(Array.from({ length: 20 }, (_, at) => at));
      await db.close();
    });

    test("[T1] two databases on one place never write at once", async () => {
      const { place, db } = await withRows();
      const other = await place.open();
      await db.write(["notes"], (tx) => tx.put("notes", { id: "counter", value: 0 }));
      const increment = (on: LocalDatabase<TestRows>): Promise<void> =>
        on.write(["notes"], async (tx) => {
          const value = Number((await tx.get("notes", ["counter"]))?.value);
          await tx.put("notes", { id: "counter", value: value + 1 });
        });
      await Promise.all(Array.from({ length: 30 }, (_, at) => increment(at % 2 === 0 ? db : other)));
      expect(await other.read(["notes"], (tx) => tx.get("notes", ["counter"]))).toEqual({
        id: "counter",
        value: 30,
      });
      await db.close();
      await other.close();
    });

    test("[H1] a read sees one moment, whatever is written while it runs", async () => {
      const { db } = await withRows();
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
      expect(seen.second).toEqual(seen.first);
      expect(seen.note).toEqual({ id: "x", value: "x" });
      expect(await db.read(["lines"], (tx) => tx.list("lines", { prefix: ["b"] }))).toEqual([]);
      await db.close();
    });

    test("[H12] every commit is told once, with its tables and sessions, before the write resolves", async () => {
      const { db } = await withRows();
      const told: Change[] = [];
      const unwatch = db.watch((change) => told.push(change));
      await db.write(["lines", "notes"], async (tx) => {
        await tx.put("lines", line("s1", 1));
        await tx.delete("lines", ["c", 7]);
      });
      expect(told).toHaveLength(1);
      expect([...(told[0]?.tables ?? [])]).toEqual(["lines"]);
      expect([...(told[0]?.sessions ?? [])].sort()).toEqual(["c", "s1"]);
      await db.write(["lines"], async (tx) => void (await tx.get("lines", ["s1", 1])));
      const failing = db.write(["lines"], async (tx) => {
        await tx.put("lines", line("s2", 1));
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(told).toHaveLength(1);
      unwatch();
      await db.write(["lines"], (tx) => tx.put("lines", line("s3", 1)));
      expect(told).toHaveLength(1);
      await db.close();
    });

    test("[H1] another database on the same place sees the commit and is told of it", async () => {
      const { place, db } = await withRows();
      const other = await place.open();
      const told: Change[] = [];
      other.watch((change) => told.push(change));
      await db.write(["notes"], (tx) => tx.put("notes", { id: "s9", value: 1 }));
      await place.delivered();
      expect(told.map(({ tables, sessions }) => [[...tables], [...sessions]])).toEqual([[["notes"], ["s9"]]]);
      expect(await other.read(["notes"], (tx) => tx.get("notes", ["s9"]))).toEqual({ id: "s9", value: 1 });
      await other.close();
      await db.write(["notes"], (tx) => tx.put("notes", { id: "s10", value: 1 }));
      await place.delivered();
      expect(told).toHaveLength(1);
      await db.close();
    });

    test("[H10] a closed database refuses with a storage error that says so; what was asked before finishes", async () => {
      const { place, db } = await withRows();
      const last = db.write(["notes"], (tx) => tx.put("notes", { id: "last", value: 1 }));
      await last;
      await db.close();
      await db.close();
      const closed = { code: "storage", reason: "closed" };
      await expect(db.read(["notes"], (tx) => tx.list("notes"))).rejects.toMatchObject(closed);
      await expect(db.write(["notes"], (tx) => tx.delete("notes", ["x"]))).rejects.toMatchObject(closed);
      const again = await place.open();
      expect(await again.read(["notes"], (tx) => tx.get("notes", ["last"]))).toBeDefined();
      await again.close();
    });

    test("[H10] a row without its key is refused and the transaction leaves nothing", async () => {
      const { db } = await withRows();
      const write = db.write(["notes"], async (tx) => {
        await tx.put("notes", { id: "before", value: 1 });
        await tx.put("notes", { value: 1 } as unknown as Note);
      });
      await expect(write).rejects.toMatchObject({ code: "storage" });
      expect(await db.read(["notes"], (tx) => tx.get("notes", ["before"]))).toBeUndefined();
      await db.close();
    });

    test("[H1] destroy deletes everything; opened again, the database is empty", async () => {
      const { place, db } = await withRows();
      await db.destroy();
      const again = await place.open();
      expect(await again.read(["lines"], (tx) => tx.list("lines"))).toEqual([]);
      expect(await again.read(["notes"], (tx) => tx.list("notes"))).toEqual([]);
      await again.close();
    });

    test("[C7] a database destroyed by another tab refuses and recreates nothing", async () => {
      const { place, db } = await withRows();
      const other = await place.open();
      await other.read(["notes"], (tx) => tx.list("notes"));
      await db.destroy();
      await place.delivered();
      const write = other.write(["notes"], (tx) => tx.put("notes", { id: "ghost", value: 1 }));
      await expect(write).rejects.toMatchObject({ code: "storage", reason: "reset" });
      const again = await place.open();
      expect(await again.read(["notes"], (tx) => tx.list("notes"))).toEqual([]);
      await again.close();
      await other.close();
    });

    test("[H11] thousands of rows in one transaction come back complete and in order", async () => {
      const { db } = await withRows();
      await db.write(["lines"], async (tx) => {
        for (let n = 4_999; n >= 0; n -= 1) void tx.put("lines", line("many", n, `u${n % 7}`));
        await tx.put("lines", line("many", 5_000));
      });
      await db.write(["lines"], (tx) =>
        tx.deleteRange("lines", { prefix: ["many"], from: [100], to: [4_900] }),
      );
      const rows = await db.read(["lines"], (tx) => tx.list("lines", { prefix: ["many"] }));
      expect(rows).toHaveLength(201);
      expect(rows.every((row, at) => at === 0 || row.n > (rows[at - 1]?.n ?? -1))).toBe(true);
      const recent = await db.read(["lines"], (tx) => tx.list("lines", { by: "recent", prefix: ["u3"] }));
      expect(recent.map(({ n }) => n)).toEqual(
        rows.map(({ n }) => n).filter((n) => n < 5_000 && n % 7 === 3),
      );
      await db.close();
    });
  });
}
