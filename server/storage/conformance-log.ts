import { EMPTY_HEAD } from "../../src/model/revision.ts";
import {
  accepted,
  bodies,
  present,
  refused,
  type StorageCheck,
  same,
  WIDE,
  Writer,
} from "./conformance-tools.ts";

/** Appends and replaces: the answer table, generations, retries. */
export const LOG_CASES: readonly StorageCheck[] = [
  {
    name: "[P20] appends that name the head are applied in order, and positions are dense",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      const first = await writer.does(writer.append(["a", "b"]));
      same(first.outcome, "applied", "outcome");
      same(first.head, { generation: 0, count: 2, lastId: "b" }, "head");
      await writer.does(writer.append(["c"]));
      await reopen();
      same(await writer.ids(), ["a", "b", "c"], "log after a restart");
    },
  },
  {
    name: "[P20] a right count with a wrong last id is refused (C61)",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      const stale = [
        writer.append(["x"], { base: writer.at(1, "a") }),
        writer.append(["y"], { base: writer.at(2, "x") }),
      ];
      await writer.does(writer.append(["foreign"]));
      for (const write of stale) same(refused(await storage.apply(write)).code, "conflict", "answer");
      same(await writer.ids(), ["a", "foreign"], "log");
    },
  },
  {
    name: "[P20] of writers that name the same head exactly one is accepted (C18)",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      const rivals = Array.from({ length: 20 }, (_, n) => writer.append([`m${n}`]));
      const answers = await Promise.all(rivals.map((write) => storage.apply(write)));
      same(answers.filter(({ ok }) => ok).length, 1, "accepted");
      same((await writer.ids()).length, 2, "messages");
    },
  },
  {
    name: "[P14] the same op again gets the first answer, also after others, a replace, a restart and a restore (C63)",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      const write = writer.append(["a", "b"]);
      const first = await writer.does(write);
      const known = {
        ...first,
        outcome: "known",
        seq: 0,
        entry: undefined,
        deleted: undefined,
        held: undefined,
      };
      same(await storage.apply(write), known, "at once");
      await writer.does(writer.append(["c"]));
      await writer.does(writer.replace(["d"]));
      same(await storage.apply(write), known, "after a replace");
      await reopen();
      same(await storage.apply(write), known, "after a restart");
      await writer.does(writer.replace([], { keep: { generation: 0, count: 3 } }));
      same(await storage.apply(write), known, "after a restore");
      await writer.does(writer.remove());
      same(await storage.apply(write), known, "after a delete");
      same(await storage.position("ann"), 5, "position");
    },
  },
  {
    name: "[P14] an op id with other content is refused as reused (C19)",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const write = writer.append(["a"]);
      await writer.does(write);
      const other = { ...write, digest: "other", messages: bodies("b") };
      same(refused(await storage.apply(other)).code, "op-reused", "answer");
      same(await writer.ids(), ["a"], "log");
    },
  },
  {
    name: "[P14] the same op handed in twice at once has one effect (C17)",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const write = writer.append(["a"]);
      const answers = await Promise.all([storage.apply(write), storage.apply(write)]);
      same(
        answers.map((answer) => accepted(answer).outcome),
        ["applied", "known"],
        "outcomes",
      );
      same(await writer.ids(), ["a"], "log");
    },
  },
  {
    name: "[P21] messages that stand there already are present, some of them are an overlap",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b", "c"]));
      const base = writer.at(1, "a");
      const present = await writer.does(writer.append(["b", "c"], { base }));
      same([present.outcome, present.head, present.seq], ["present", writer.at(3, "c"), 0], "all there");
      same(refused(await storage.apply(writer.append(["b", "x"], { base }))).code, "overlap", "some there");
      same(
        refused(await storage.apply(writer.append(["c", "d"], { base: writer.at(2, "b") }))).code,
        "overlap",
        "",
      );
      same(await writer.ids(), ["a", "b", "c"], "log");
    },
  },
  {
    name: "[P14] an op that was present is known when it comes again, also after a replace",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b"]));
      const again = writer.append(["b"], { base: writer.at(1, "a") });
      await writer.does(again);
      await writer.does(writer.replace(["c"]));
      same(accepted(await storage.apply(again)).outcome, "known", "outcome");
      same(await writer.ids(), ["c"], "log");
    },
  },
  {
    name: "[P26] an id that stands elsewhere in the log, or twice in the op, is refused",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b"]));
      for (const ids of [["a"], ["x", "b"], ["y", "y"]]) {
        same(refused(await storage.apply(writer.append(ids))).code, "duplicate-id", ids.join());
      }
      const keep = { generation: 0, count: 1 };
      same(refused(await storage.apply(writer.replace(["a"], { keep }))).code, "duplicate-id", "kept");
      same((await writer.does(writer.replace(["b"], { keep }))).head.count, 2, "not kept");
      same(await writer.ids(), ["a", "b"], "log");
    },
  },
  {
    name: "[P22] a conflict tells where the session stands, and a short tail",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      await writer.does(writer.append(["b", "c"]));
      const { incarnation, head } = writer;
      const stale = refused(await storage.apply(writer.append(["x"], { base: writer.at(1, "a") })));
      same([stale.code, stale.actual], ["conflict", { incarnation, head }], "conflict");
      same(
        stale.tail?.map(({ id, op }) => [id, op]),
        [
          ["b", "op-2"],
          ["c", "op-2"],
        ],
        "tail",
      );
      const foreign = refused(await storage.apply(writer.append(["x"], { base: writer.at(1, "z") })));
      same(foreign.tail, undefined, "tail of what is no prefix");
      await writer.does(writer.append(["d"]));
      const far = refused(await storage.apply(writer.append(["x"], { base: EMPTY_HEAD })));
      same(far.tail, undefined, "tail longer than the limit");
    },
  },
  {
    name: "[P13] a refused op leaves no message, state or metadata",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      const before = await writer.pull();
      const position = await storage.position("ann");
      const change = { state: Uint8Array.of(1), metadata: [{ at: "/title", value: "no" }] };
      same(
        refused(await storage.apply(writer.append(["x"], { base: EMPTY_HEAD, ...change }))).code,
        "conflict",
        "",
      );
      same(refused(await storage.apply(writer.append(["a"], change))).code, "duplicate-id", "");
      const keep = { generation: 7, count: 0 };
      same(refused(await storage.apply(writer.replace(["x"], { keep, ...change }))).code, "malformed", "");
      same(await writer.pull(), before, "session");
      same(await storage.position("ann"), position, "position");
      const { entries } = await storage.catalog("ann", { cursor: 0, maxEntries: 10, maxBytes: 10_000 });
      same(
        entries.map(({ metadata }) => metadata),
        [{}],
        "metadata",
      );
    },
  },
  {
    name: "[P24] a replace archives the log before it, which stays readable and restorable",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b", "c"]));
      await writer.does(writer.replace(["x"], { keep: { generation: 0, count: 2 } }));
      same(writer.head, { generation: 1, count: 3, lastId: "x" }, "head");
      await writer.does(writer.append(["y"]));
      await writer.does(writer.replace([], { keep: { generation: 1, count: 1 } }));
      await writer.does(writer.append(["z"]));
      await reopen();
      const { actor, session } = writer;
      const place = { actor, session, incarnation: writer.incarnation ?? "" };
      const read = async (generation: number): Promise<string[]> => {
        const page = present(await storage.readGeneration(place, { generation, from: 0, ...WIDE }));
        return page.messages.map(({ id }) => id);
      };
      same(await read(0), ["a", "b", "c"], "generation 0");
      same(await read(1), ["a", "b", "x", "y"], "generation 1");
      same(await read(2), ["a", "z"], "generation 2");
      await writer.does(writer.replace([], { keep: { generation: 1, count: 4 } }));
      same(await writer.ids(), ["a", "b", "x", "y"], "restored");
      const generations = present(await storage.listGenerations(place, 10));
      same(
        generations.map(({ generation, count }) => [generation, count]),
        [
          [3, 4],
          [2, 2],
          [1, 4],
          [0, 3],
        ],
        "list",
      );
      same(
        generations.map(({ replacedAt }) => replacedAt === undefined),
        [true, false, false, false],
        "replaced",
      );
      same(
        generations.map(({ opId }) => opId),
        ["op-6", "op-4", "op-2", undefined],
        "made by",
      );
      same(present(await storage.listGenerations(place, 2)).length, 2, "bounded list");
    },
  },
  {
    name: "[P25] a replace whose base has moved is refused as a conflict, whatever the count says",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      const stale = writer.replace(["x"]);
      await writer.does(writer.append(["b"]));
      same(refused(await storage.apply(stale)).code, "conflict", "after an append");
      const base = writer.head;
      await writer.does(writer.replace(["p", "q"]));
      same(refused(await storage.apply(writer.append(["r"], { base }))).code, "conflict", "equal count");
      same(await writer.ids(), ["p", "q"], "log");
    },
  },
  {
    name: "[P24] a session can begin with a replace",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const answer = await writer.does(writer.replace(["a"]));
      same(answer.head, { generation: 1, count: 1, lastId: "a" }, "head");
      same(await writer.ids(), ["a"], "log");
    },
  },
];
