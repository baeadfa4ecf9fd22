import { EMPTY_HEAD } from "../../src/model/revision.ts";
import { present, type StorageCheck, same, WIDE, Writer } from "./conformance-tools.ts";

/** Pulls, pages and the catalog. */
export const READING_CASES: readonly StorageCheck[] = [
  {
    name: "[P31] a pull continues what is held when that is a prefix of the log",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b", "c"]));
      const from = async (count: number, lastId: string | null): Promise<unknown> => {
        const page = await writer.pull({ have: writer.at(count, lastId) });
        return [page.start, page.messages.map(({ id }) => id)];
      };
      same(await from(2, "b"), [2, ["c"]], "a prefix");
      same(await from(3, "c"), [3, []], "all");
      same(await from(0, null), [0, ["a", "b", "c"]], "nothing");
      same(await from(2, "other"), [0, ["a", "b", "c"]], "no prefix");
    },
  },
  {
    name: "[P31] after a replace a pull starts where the kept prefix ends",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b", "c", "d"]));
      const held = writer.head;
      await writer.does(writer.replace(["x"], { keep: { generation: 0, count: 2 } }));
      await reopen();
      const start = async (have: typeof held): Promise<number> => (await writer.pull({ have })).start;
      same(await start(held), 2, "one replace");
      same(await start({ generation: 0, count: 1, lastId: "a" }), 1, "less held than kept");
      await writer.does(writer.replace(["y"], { keep: { generation: 1, count: 3 } }));
      same(await start(held), 2, "two replaces");
      same(await start({ generation: 1, count: 3, lastId: "x" }), 3, "all of it kept");
      await writer.does(writer.replace(["z"], { keep: { generation: 0, count: 4 } }));
      same(await start(held), 4, "restored");
      await writer.does(writer.replace(["only"]));
      same(await start(held), 0, "nothing kept");
      same(await start({ generation: 99, count: 1, lastId: "a" }), 0, "a generation that never was");
    },
  },
  {
    name: "[P33] a log shorter than what is held says that it is behind",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      const page = await writer.pull({ have: { generation: 0, count: 3, lastId: "c" } });
      same([page.behind, page.start, page.messages], [true, 1, []], "page");
      same((await writer.pull({ have: EMPTY_HEAD })).behind, false, "not behind");
    },
  },
  {
    name: "[P30] pages are bounded in messages and bytes, hold at least one, and join to the log",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const ids = Array.from({ length: 25 }, (_, n) => `m${n}`);
      await writer.does(writer.append(ids, { state: Uint8Array.of(1) }));
      for (const bounds of [
        { maxMessages: 10, maxBytes: 1_000_000 },
        { maxMessages: 1_000, maxBytes: 100 },
        { maxMessages: 1_000, maxBytes: 1 },
      ]) {
        const got: string[] = [];
        let state = 0;
        for (let have = EMPTY_HEAD, more = true; more; ) {
          const page = await writer.pull({ have, ...bounds });
          if (page.messages.length > bounds.maxMessages) throw new Error("A page is longer than allowed");
          if (page.more && page.messages.length === 0) throw new Error("A page is empty, and more follow");
          same(page.start, got.length, "start");
          got.push(...page.messages.map(({ id }) => id));
          state += page.state.length;
          have = writer.at(got.length, got.at(-1) ?? null);
          more = page.more;
        }
        same([got, state], [ids, 1], "joined");
      }
    },
  },
  {
    name: "[P30] a generation is read in pages, across what it kept",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b", "c"]));
      await writer.does(writer.replace(["x", "y"], { keep: { generation: 0, count: 2 } }));
      await writer.does(writer.replace([]));
      const place = { actor: "ann", session: "s", incarnation: writer.incarnation ?? "" };
      const page = async (from: number): Promise<unknown> => {
        const bounds = { ...WIDE, maxMessages: 3 };
        const { messages, more } = present(
          await storage.readGeneration(place, { generation: 1, from, ...bounds }),
        );
        return [messages.map(({ id }) => id), more];
      };
      same(await page(0), [["a", "b", "x"], true], "first");
      same(await page(3), [["y"], false], "second");
      same(await page(9), [[], false], "past the end");
      const question = { generation: 9, from: 0, ...WIDE };
      same(await storage.readGeneration(place, question), { absent: "malformed" }, "no such generation");
    },
  },
  {
    name: "[P41] positions are dense per actor, and the catalog tells each change once, in order",
    check: async ({ storage, reopen }) => {
      const one = new Writer(storage, { session: "1" });
      const two = new Writer(storage, { session: "2" });
      const other = new Writer(storage, { actor: "bob", session: "3" });
      const seqs = [
        (await one.does(one.append(["a"]))).seq,
        (await two.does(two.append(["a"]))).seq,
        (await other.does(other.append(["a"]))).seq,
        (await one.does(one.append(["b"]))).seq,
        (await two.does(two.edit({ archived: true }))).seq,
        (await one.does(one.append([], { state: Uint8Array.of(1) }))).seq,
      ];
      same(seqs, [1, 2, 1, 3, 4, 5], "positions");
      await reopen();
      same([await storage.position("ann"), await storage.position("bob")], [5, 1], "position");
      const page = async (cursor: number, maxEntries = 100): Promise<unknown> => {
        const {
          entries,
          cursor: next,
          more,
        } = await storage.catalog("ann", { cursor, maxEntries, maxBytes: 10_000 });
        return [entries.map(({ session, seq }) => [session, seq]), next, more];
      };
      same(
        await page(0),
        [
          [
            ["2", 4],
            ["1", 5],
          ],
          5,
          false,
        ],
        "everything",
      );
      same(await page(0, 1), [[["2", 4]], 4, true], "one a page");
      same(await page(4), [[["1", 5]], 5, false], "from a cursor");
      same(await page(5), [[], 5, false], "nothing new");
      same(
        await page(99),
        [
          [
            ["2", 4],
            ["1", 5],
          ],
          5,
          false,
        ],
        "a cursor of later times: everything again",
      );
    },
  },
  {
    name: "[P40] an entry tells all that the catalog knows",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(
        writer.append(["a"], { state: Uint8Array.of(1), metadata: [{ at: "/title", value: "t" }] }),
      );
      const { entries } = await storage.catalog("ann", { cursor: 0, maxEntries: 9, maxBytes: 10_000 });
      const [entry] = entries;
      const { incarnation, head } = writer;
      same(
        { ...entry, updatedAt: typeof entry?.updatedAt },
        {
          session: "s",
          incarnation,
          deleted: false,
          head,
          stateCursor: 1,
          metadata: { title: "t" },
          archived: false,
          read: { generation: 0, count: 0 },
          updatedAt: "string",
          seq: 1,
        },
        "entry",
      );
    },
  },
  {
    name: "[P13] a write that was answered is there for every read asked after it",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const rounds = Array.from({ length: 10 }, (_, n) => `m${n}`);
      for (const id of rounds) {
        await writer.does(writer.append([id]));
        same((await writer.ids()).at(-1), id, "the last");
      }
    },
  },
  {
    name: "[H2] a closed storage refuses, and says so",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      const write = writer.append(["a"]);
      await storage.close();
      const failure = await storage.apply(write).then(
        () => "answered",
        (error: { reason?: string }) => error.reason,
      );
      same(failure, "closed", "apply after close");
      await reopen();
      await writer.does(write);
    },
  },
];
