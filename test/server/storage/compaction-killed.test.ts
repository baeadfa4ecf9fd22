import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { applyUpdate, Doc, encodeStateVector } from "yjs";
import { compactSession } from "../../../server/channel/compaction.ts";
import { present, testHost, Writer } from "../../../server/storage/conformance-tools.ts";
import type { RelayStorage } from "../../../server/storage/contract.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";
import {
  type SqliteDriver,
  type SqliteStatement,
  sqliteDriver,
} from "../../../server/storage/sqlite-driver.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-compaction-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = { actor: "ann", session: "s", incarnation: null };

/** What a storage holds of the state, as whoever opens the session sees it. */
async function held(storage: RelayStorage): Promise<{ rows: number; state: unknown; vector: string }> {
  const { updates } = present(await storage.loadState(place));
  const doc = new Doc();
  for (const update of updates) applyUpdate(doc, update);
  const vector = Buffer.from(encodeStateVector(doc)).toString("hex");
  return { rows: updates.length, state: doc.getMap("state").toJSON(), vector };
}

async function opened(path: string, driver?: SqliteDriver): Promise<RelayStorage> {
  const storage = sqliteStorage({ path, driver });
  await storage.open(testHost({ maxStateBytes: 1_000_000 }));
  return storage;
}

/** A session with three hundred updates of two devices. */
async function stocked(path: string): Promise<void> {
  const storage = await opened(path);
  const writer = new Writer(storage);
  await writer.does(writer.append(["a"]));
  const docs = [new Doc(), new Doc()];
  const updates: Uint8Array[] = [];
  for (const doc of docs) doc.on("update", (update: Uint8Array) => updates.push(update));
  for (let n = 0; n < 150; n += 1) {
    for (const [at, doc] of docs.entries()) {
      const map = doc.getMap("state");
      if (n % 3 === 2) map.delete(`/${at}/${n - 2}`);
      else map.set(`/${at}/${n}`, n);
    }
  }
  for (const update of updates) await writer.state(update);
  await storage.close();
}

/** Tells before each thing that SQLite is asked to do; once `step` throws, nothing is done any more, as in a process that is gone. */
function stepping(step: () => void): SqliteDriver {
  let gone = false;
  const before = (): void => {
    if (gone) throw new Error("The process is gone");
    try {
      step();
    } catch (error) {
      gone = true;
      throw error;
    }
  };
  return (path, options) => {
    const database = sqliteDriver()(path, options);
    const stepped = <Args extends unknown[], Result>(call: (...args: Args) => Result) => {
      return (...args: Args): Result => {
        before();
        return call(...args);
      };
    };
    return {
      exec: stepped((sql: string) => database.exec(sql)),
      close: () => database.close(),
      prepare: (sql): SqliteStatement => {
        const statement = database.prepare(sql);
        return {
          run: stepped((...values) => statement.run(...values)),
          get: stepped((...values) => statement.get(...values)),
          all: stepped((...values) => statement.all(...values)),
          iterate: stepped((...values) => statement.iterate(...values)),
        };
      },
    };
  };
}

function copy(from: string, to: string): void {
  for (const end of ["", "-wal"]) {
    if (existsSync(`${from}${end}`)) copyFileSync(`${from}${end}`, `${to}${end}`);
  }
}

test("[C14] compaction killed before each of its steps and after the last, then run again: the state is the same before and after", async () => {
  const base = join(folder, "base.db");
  await stocked(base);
  const storage = await opened(base);
  const before = await held(storage);
  await storage.close();
  expect(before.rows).toBe(300);

  let ended = false;
  let step = 0;
  let compactedAlready = 0;
  for (; !ended; step += 1) {
    const [path, crashed] = [join(folder, `run-${step}.db`), join(folder, `crashed-${step}.db`)];
    copy(base, path);
    let done = -1;
    const driver = stepping(() => {
      if (done < 0) return;
      // As SIGKILL leaves it: what SQLite has handed to the system so far.
      if (done === step) {
        copy(path, crashed);
        throw new Error("Killed");
      }
      done += 1;
    });
    const running = await opened(path, driver);
    done = 0;
    ended = (await compactSession(running, place).catch(() => "killed")) === "done";
    if (ended) copy(path, crashed);
    await running.close().catch(() => {});

    const again = await opened(crashed);
    const found = await held(again);
    if (found.rows === 1) compactedAlready += 1;
    expect([step, { ...found, rows: 300 }]).toEqual([step, before]);
    expect(await compactSession(again, place)).toBe("done");
    expect(await held(again)).toEqual({ ...before, rows: 1 });
    await again.close();
    const last = await opened(crashed);
    expect(await held(last)).toEqual({ ...before, rows: 1 });
    await last.close();
  }
  // Reading, the transaction's beginning, what it drops, adds, measures and changes, and its end.
  expect(step).toBeGreaterThan(6);
  expect(compactedAlready).toBeGreaterThan(0);
});
