import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testHost, Writer } from "../../../server/storage/conformance-tools.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";
import { sqliteDriver } from "../../../server/storage/sqlite-driver.ts";
import { StorageError } from "../../../src/model/errors.ts";
import { seededRandom } from "../../../src/testing/random.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-damaged-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SESSIONS = 4;
const ROUNDS = 100;

/** One acknowledged message, and how long the log was that SQLite writes ahead once it was acknowledged. */
interface Acknowledged {
  readonly session: string;
  readonly id: string;
  readonly body: string;
  readonly walBytes: number;
}
const acknowledged: Acknowledged[] = [];
/** As it is found after a crash, and as it is after a good end. */
const crashed = join(folder, "crashed.db");
const ended = join(folder, "ended.db");

beforeAll(async () => {
  const path = join(folder, "origin.db");
  const writers: Writer[] = [];
  const write = async (
    storage: ReturnType<typeof sqliteStorage>,
    from: number,
    to: number,
  ): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      const session = `s${n % SESSIONS}`;
      const writer = new Writer(storage, { session });
      Object.assign(writer, pick(writers[n % SESSIONS]));
      const body = JSON.stringify({ id: `m${n}`, text: `text of ${n} `.repeat(1 + (n % 30)) });
      await writer.does({ ...writer.append([]), opId: `op-${n}`, messages: [{ id: `m${n}`, body }] });
      if (n % 5 === 0) await writer.state(Uint8Array.from({ length: 50 }, (_, at) => (n * at) % 256));
      writers[n % SESSIONS] = writer;
      const walBytes = existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0;
      acknowledged.push({ session, id: `m${n}`, body, walBytes: from === 0 ? 0 : walBytes });
    }
  };
  const first = sqliteStorage({ path });
  await first.open(testHost());
  await write(first, 0, 120);
  await first.close();
  // The second half stands in the log, as when the relay is killed.
  const second = sqliteStorage({ path });
  await second.open(testHost());
  await write(second, 120, 240);
  copyFileSync(path, crashed);
  copyFileSync(`${path}-wal`, `${crashed}-wal`);
  await second.close();
  copyFileSync(path, ended);
});

function pick(writer: Writer | undefined): Partial<Writer> {
  return writer === undefined ? {} : { head: writer.head, incarnation: writer.incarnation };
}

type Damage = { readonly bytes: Buffer; readonly from: number; readonly flipped: readonly number[] };

/** Loses or changes something of the last 40 % of a file. */
function damage(whole: Buffer, fraction: () => number): Damage {
  const size = whole.length;
  const at = Math.floor(size * (1 - 0.4 * fraction() ** 2));
  const kind = Math.floor(fraction() * 4);
  const bytes = Buffer.from(whole);
  if (kind === 0) return { bytes: bytes.subarray(0, at), from: at, flipped: [] };
  const flipped: number[] = [];
  const times = kind === 1 ? 1 : 1 + Math.floor(fraction() * 20);
  for (let n = 0; n < times; n += 1) {
    const place = at + Math.floor(fraction() * (size - at));
    if (place >= size) continue;
    bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(fraction() * 8));
    flipped.push(place);
  }
  // A block that was never written, as a power cut leaves it.
  if (kind === 3) {
    const end = Math.min(size, at + 512 * (1 + Math.floor(fraction() * 8)));
    bytes.fill(0, at, end);
    for (let place = at; place < end; place += 1) flipped.push(place);
  }
  return { bytes, from: Math.min(at, ...flipped), flipped };
}

/** An empty log is as none: looking into a file makes one. */
const digest = (path: string): string =>
  existsSync(path) && statSync(path).size > 0
    ? createHash("sha256").update(readFileSync(path)).digest("hex")
    : "none";

async function served(path: string): Promise<Map<string, string>> {
  const storage = sqliteStorage({ path, durability: "process" });
  await storage.open(testHost());
  try {
    const found = new Map<string, string>();
    for (let n = 0; n < SESSIONS; n += 1) {
      const writer = new Writer(storage, { session: `s${n}` });
      const page = await writer.pull({ maxMessages: 1_000, maxBytes: 1e9 });
      for (const { id, body } of page.messages) found.set(id, body);
      // What is served is a beginning of what was written, in its order.
      const written = acknowledged.filter(({ session }) => session === `s${n}`).map(({ id }) => id);
      expect(page.messages.map(({ id }) => id)).toEqual(written.slice(0, page.messages.length));
      // And it goes on from there.
      const state = await storage.loadState({ actor: "ann", session: `s${n}`, incarnation: null });
      expect(state).toHaveProperty("updates");
      writer.incarnation = page.incarnation;
      writer.head = page.head;
      await writer.does({ ...writer.append([`after-${n}`]), opId: `after-${n}` });
    }
    return found;
  } finally {
    await storage.close();
  }
}

interface Target {
  readonly name: string;
  readonly origin: string;
  readonly suffix: "" | "-wal";
}
const targets: readonly Target[] = [
  { name: "the log that SQLite writes ahead", origin: crashed, suffix: "-wal" },
  { name: "the database beside such a log", origin: crashed, suffix: "" },
  { name: "the database after a good end", origin: ended, suffix: "" },
];

const rounds = Array.from({ length: ROUNDS }, (_, at) => at + 1);

describe.each(targets)("damage to $name", ({ origin, suffix }) => {
  test("[C6] a hundred seeds: it opens and serves what stands before the damage, or is refused as damaged and left as it was", async () => {
    let refused = 0;
    for (const seed of rounds) {
      const path = join(folder, `${suffix}-${seed}.db`);
      const { fraction } = seededRandom(seed);
      const whole = readFileSync(`${origin}${suffix}`);
      const { bytes, from, flipped } = damage(whole, fraction);
      copyFileSync(origin, path);
      if (existsSync(`${origin}-wal`)) copyFileSync(`${origin}-wal`, `${path}-wal`);
      writeFileSync(`${path}${suffix}`, bytes);
      const before = [digest(path), digest(`${path}-wal`)];
      try {
        const found = await served(path);
        for (const { id, body, walBytes } of acknowledged) {
          if (suffix === "-wal" && walBytes > from) continue;
          const stands = whole.indexOf(body);
          const hit = flipped.some((place) => place >= stands && place < stands + Buffer.byteLength(body));
          // SQLite keeps no sums of its pages: a bit within a message's text is not seen, and nothing else is harmed.
          if (!hit) expect([seed, found.get(id)]).toEqual([seed, body]);
        }
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        expect([seed, error.reason, error.message]).toEqual([
          seed,
          "corrupt",
          expect.stringContaining(`${path} is`),
        ]);
        expect([digest(path), digest(`${path}-wal`)]).toEqual(before);
        refused += 1;
      }
      for (const end of ["", "-wal", "-shm", ".lock"]) rmSync(`${path}${end}`, { force: true });
    }
    // A torn log is the everyday case: it never keeps a relay from starting.
    if (suffix === "-wal") expect(refused).toBe(0);
    else expect(refused).toBeGreaterThan(ROUNDS / 4);
  }, 120_000);
});

describe("what else a damaged file can be", () => {
  const refusal = async (path: string): Promise<unknown> =>
    sqliteStorage({ path })
      .open(testHost())
      .catch((error: unknown) => error);

  test("[C6] an empty file beside a log that is not: SQLite would throw the log away", async () => {
    const path = join(folder, "emptied.db");
    writeFileSync(path, "");
    copyFileSync(`${crashed}-wal`, `${path}-wal`);
    expect(await refusal(path)).toMatchObject({ code: "storage", reason: "corrupt" });
    expect(digest(`${path}-wal`)).toBe(digest(`${crashed}-wal`));
  });

  test.each<[string, string, string]>([
    [
      "a message that is no JSON",
      `UPDATE messages SET body = '{"id' WHERE id = 'm7'`,
      "ann / s3, generation 0, position 1",
    ],
    ["metadata that is no JSON", "UPDATE sessions SET metadata = '{' WHERE id = 's1'", "ann / s1, metadata"],
    ["a message that is missing", "DELETE FROM messages WHERE id = 'm8'", "ann / s0, generation 0"],
    ["a log that is too short", "DELETE FROM messages WHERE id = 'm239'", "ann / s3, count 60"],
  ])("[C6] %s: the file is refused, and the session is named", async (name, sql, says) => {
    const path = join(folder, `${name.replaceAll(" ", "-")}.db`);
    copyFileSync(ended, path);
    const database = sqliteDriver()(path);
    database.exec(sql);
    database.close();
    expect(await refusal(path)).toMatchObject({ reason: "corrupt", message: expect.stringContaining(says) });
  });

  test("[H10] another application's database is refused, and nothing is added to it", async () => {
    const path = join(folder, "foreign.db");
    const database = sqliteDriver()(path);
    database.exec("CREATE TABLE notes (text TEXT)");
    database.close();
    expect(await refusal(path)).toMatchObject({ reason: "corrupt" });
    const after = sqliteDriver()(path);
    expect(after.prepare("SELECT name FROM sqlite_master").all()).toEqual([{ name: "notes" }]);
    after.close();
  });

  test("[C6] a page that would skip a message is not given", async () => {
    const path = join(folder, "skipping.db");
    copyFileSync(ended, path);
    const storage = sqliteStorage({ path });
    await storage.open(testHost());
    const database = sqliteDriver()(path);
    database.exec("DELETE FROM messages WHERE id = 'm8'");
    database.close();
    await expect(new Writer(storage, { session: "s0" }).pull()).rejects.toMatchObject({ reason: "corrupt" });
    await storage.close();
  });
});
