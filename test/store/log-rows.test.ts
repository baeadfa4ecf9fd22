import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import type { Schema } from "../../src/store/database.ts";
import {
  appendMessages,
  copyPrefix,
  type LogTables,
  readMessages,
  truncateLog,
} from "../../src/store/log-rows.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { parseLog } from "../../src/store/stored-log.ts";
import type { RunRow } from "../../src/store/sync-rows.ts";

const SCHEMA: Schema<LogTables> = { runs: { key: ["session", "generation", "start"] } };
const numbered = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, at) => ({ id: `m${from + at}` }));

/** A log of one session in a database, and a plain array beside it that says what it must be. */
class Log {
  readonly db: MemoryDatabase<LogTables> = new MemoryDatabase(SCHEMA);
  count = 0;

  async append(n: number, generation = 0): Promise<void> {
    const messages = numbered(this.count, this.count + n);
    await this.db.write(["runs"], (tx) =>
      appendMessages(tx, "s", { generation, count: this.count }, messages),
    );
    this.count += n;
  }
  async truncate(to: number): Promise<void> {
    await this.db.write(["runs"], (tx) => truncateLog(tx, "s", { generation: 0, count: to }));
    this.count = Math.min(this.count, to);
  }
  read(from: number, to: number, generation = 0): Promise<(JsonObject | undefined)[]> {
    return this.db.read(["runs"], (tx) => readMessages(tx, "s", { generation, from, to }));
  }
  rows(generation = 0): Promise<RunRow[]> {
    return this.db.read(["runs"], (tx) => tx.list("runs", { prefix: ["s", generation] }));
  }
  put(row: unknown): Promise<void> {
    return this.db.write(["runs"], (tx) => tx.put("runs", row as RunRow));
  }
}

describe("A log in rows", () => {
  test("[H11] any appends and cuts read back as the same log, from any position to any other", async () => {
    const step = fc.record({ cut: fc.boolean(), n: fc.nat(240) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.nat(1_000),
        fc.nat(300),
        async (steps, a, span) => {
          const log = new Log();
          for (const { cut, n } of steps)
            await (cut ? log.truncate(Math.max(0, log.count - n)) : log.append(n));
          expect(await log.read(0, log.count)).toEqual(numbered(0, log.count));
          const from = Math.min(a, log.count);
          const to = Math.min(from + span, log.count);
          expect(await log.read(from, to)).toEqual(numbered(from, to));
          const kept = Math.min(a, log.count);
          await log.db.write(["runs"], (tx) => copyPrefix(tx, "s", { from: 0, to: 1, count: kept }));
          expect(await log.read(0, kept, 1)).toEqual(numbered(0, kept));
          const [behind] = await log.read(kept, kept + 1, 1);
          expect(behind).toBeUndefined();
        },
      ),
      { numRuns: 200 },
    );
  });

  test("[H11] the tail stands in rows as added, and reaching a hundred seals them into one", async () => {
    const log = new Log();
    for (let n = 0; n < 99; n += 1) await log.append(1);
    expect(await log.rows()).toHaveLength(99);
    await log.append(1);
    expect((await log.rows()).map(({ start, messages }) => [start, messages.length])).toEqual([[0, 100]]);
    await log.append(250);
    await log.append(60);
    expect((await log.rows()).map(({ start, messages }) => [start, messages.length])).toEqual([
      [0, 100],
      [100, 100],
      [200, 100],
      [300, 100],
      [400, 10],
    ]);
  });

  test("[H11] an append and reading the last fifty touch as many rows at 10,000 messages as at 200", async () => {
    const touched = async (count: number): Promise<number[]> => {
      const log = new Log();
      await log.append(count);
      await log.append(7);
      let rows = 0;
      const counting = await log.db.read(["runs"], async (tx) => {
        await readMessages(
          {
            get: (table, key) => tx.get(table, key),
            list: async (table, range) => {
              const found = await tx.list(table, range);
              rows += found.length;
              return found;
            },
          },
          "s",
          { generation: 0, from: log.count - 50, to: log.count },
        );
        return rows;
      });
      let writes = 0;
      let reads = 0;
      await log.db.write(["runs"], async (tx) => {
        const spy = {
          ...{ get: tx.get.bind(tx), delete: tx.delete.bind(tx), deleteRange: tx.deleteRange.bind(tx) },
          list: async <T extends "runs">(table: T, range?: object) => {
            reads += 1;
            return tx.list(table, range);
          },
          put: async <T extends "runs">(table: T, row: RunRow) => {
            writes += 1;
            return tx.put(table, row);
          },
        };
        await appendMessages(spy, "s", { generation: 0, count: log.count }, [{ id: "next" }]);
      });
      return [counting, reads, writes];
    };
    expect(await touched(10_000)).toEqual(await touched(200));
    expect(await touched(10_000)).toEqual([2, 0, 1]);
  });

  test("[T7] a missing, a half-written and a garbled row leave the positions of all others as they were", async () => {
    const log = new Log();
    await log.append(350);
    await log.db.write(["runs"], (tx) => tx.delete("runs", ["s", 0, 100]));
    await log.put({ session: "s", generation: 0, start: 200, messages: "garbage" });
    await log.put({ session: "s", generation: 0, start: 300, messages: [...numbered(300, 349), 7] });
    const found = await log.read(0, 350);
    expect(found.slice(0, 100)).toEqual(numbered(0, 100));
    expect(found.slice(100, 300)).toEqual(new Array(200).fill(undefined));
    expect(found.slice(300, 349)).toEqual(numbered(300, 349));
    expect(found[349]).toBeUndefined();
    expect(await log.read(150, 310)).toEqual([...new Array(150).fill(undefined), ...numbered(300, 310)]);
  });

  test("[T7] sealing never swallows a damaged row: its bytes stay, and what is added around it is read", async () => {
    const log = new Log();
    await log.append(40);
    await log.append(20);
    await log.put({ session: "s", generation: 0, start: 40, messages: { half: "written" } });
    await log.append(45);
    const rows = await log.rows();
    expect(rows.find(({ start }) => start === 40)?.messages).toEqual({ half: "written" });
    const found = await log.read(0, 105);
    expect(found.slice(0, 40)).toEqual(numbered(0, 40));
    expect(found.slice(40, 60)).toEqual(new Array(20).fill(undefined));
    expect(found.slice(60)).toEqual(numbered(60, 105));
  });

  test("[T7] a message that does not parse is reported at its place and the others load", () => {
    const good = { id: "a", role: "user", content: [{ type: "text", text: "hi" }], metadata: {} };
    const stored = [
      { ...good, createdAt: "2026-01-01T00:00:00Z" },
      { ...good, id: "b", role: "nobody", createdAt: "2026-01-01T00:00:00Z" },
      undefined,
      { ...good, id: "d", createdAt: "2026-01-01T00:00:00Z" },
    ];
    const { messages, damaged } = parseLog(stored, 10);
    expect(messages.map(({ id }) => id)).toEqual(["a", "damaged-11", "damaged-12", "d"]);
    expect(damaged.map(({ index }) => index)).toEqual([11, 12]);
    expect(damaged[0]?.reason).toContain("message.role");
  });
});
