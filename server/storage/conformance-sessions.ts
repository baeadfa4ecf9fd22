import { accepted, refused, type StorageCheck, same, WIDE, Writer } from "./conformance-tools.ts";

const ALL = { cursor: 0, maxEntries: 100, maxBytes: 100_000 };

/** Lives of sessions, their entries, state, and the walls between actors. */
export const SESSION_CASES: readonly StorageCheck[] = [
  {
    name: "[P15] an op without an incarnation creates a session, or applies to the one that is there",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const first = await writer.does(writer.append(["a"], { incarnation: null }));
      const second = await writer.does(writer.append(["b"], { incarnation: null }));
      same(second.incarnation, first.incarnation, "incarnation");
      const wrong = writer.append(["c"], { incarnation: "of another life" });
      same(refused(await storage.apply(wrong)).code, "deleted", "another life");
      const none = new Writer(storage, { session: "none" });
      same(
        refused(await storage.apply(none.append(["a"], { incarnation: "x" }))).code,
        "deleted",
        "no session",
      );
    },
  },
  {
    name: "[P16] an op without an incarnation creates only at the beginning",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const base = writer.at(1, "a");
      same(refused(await storage.apply(writer.append(["b"], { base }))).code, "conflict", "never was");
      await writer.does(writer.append(["a"]));
      await writer.does(writer.remove());
      const late = writer.append(["b"], { base, incarnation: null });
      same(refused(await storage.apply(late)).code, "deleted", "a tombstone");
    },
  },
  {
    name: "[P28] a delete erases log, generations and state, leaves a tombstone, and the id can live again",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b"], { state: Uint8Array.of(1, 2) }));
      await writer.does(writer.replace(["c"]));
      await writer.does(writer.edit({ metadata: [{ at: "/title", value: "secret" }] }));
      const before = writer.incarnation;
      const removed = await writer.does(writer.remove());
      same(removed.entry?.deleted, true, "entry");
      same(removed.entry?.metadata, {}, "metadata");
      same(accepted(await storage.apply(writer.remove())).seq, 0, "deleted again");
      same(
        accepted(await storage.apply(writer.remove({ incarnation: null }))).incarnation,
        before,
        "unknown life",
      );
      const place = { actor: "ann", session: "s", incarnation: before };
      const question = { have: null, stateCursor: 0, ...WIDE };
      same(await storage.pull(place, question), { absent: "deleted" }, "pull");
      same(refused(await storage.apply(writer.append(["d"]))).code, "deleted", "append");
      await reopen();
      const again = new Writer(storage);
      const born = await again.does({ ...again.append(["a"]), opId: "op-new" });
      same([born.incarnation === before, born.head.generation, born.stateCursor], [false, 0, 0], "new life");
      same((await again.pull()).state, [], "state of the new life");
      same(refused(await storage.apply(writer.append(["e"]))).code, "deleted", "op of the old life");
    },
  },
  {
    name: "[P28] deleting what the relay never knew makes a tombstone",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      const removed = await writer.does(writer.remove());
      same([removed.deleted, removed.seq], [true, 1], "answer");
      const { entries } = await storage.catalog("ann", ALL);
      same(
        entries.map(({ deleted }) => deleted),
        [true],
        "entries",
      );
    },
  },
  {
    name: "[P27] metadata changes leaf by leaf, in order, and keys are data",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"], { metadata: [{ at: "/plan/step", value: 1 }] }));
      const metadata = [
        { at: "/plan/title", value: "t" },
        { at: "/plan/step", value: 2 },
        { at: "/__proto__/polluted", value: true },
        { at: "/gone", value: 1 },
        { at: "/gone" },
      ];
      await writer.does(writer.edit({ metadata }));
      await reopen();
      const { entries } = await storage.catalog("ann", ALL);
      const [entry] = entries;
      const plan = { step: 2, title: "t" };
      same(
        JSON.stringify(entry?.metadata),
        JSON.stringify({ plan, ["__proto__"]: { polluted: true } }),
        "metadata",
      );
      same(Object.hasOwn({}, "polluted") || "polluted" in {}, false, "prototype");
    },
  },
  {
    name: "[P27] archived is set, and read only moves forward",
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a", "b"]));
      const read = async (generation: number, count: number): Promise<unknown> =>
        (await writer.does(writer.edit({ read: { generation, count } }))).entry?.read ?? "unchanged";
      same(await read(0, 2), { generation: 0, count: 2 }, "forward");
      same(await read(0, 1), "unchanged", "back");
      same(await read(1, 0), { generation: 1, count: 0 }, "a later generation");
      same(await read(0, 9), "unchanged", "an earlier generation");
      same((await writer.does(writer.edit({ archived: true }))).entry?.archived, true, "archived");
      same((await writer.does(writer.edit({ archived: true }))).seq, 0, "archived again");
    },
  },
  {
    name: "[P10] metadata over its limit is refused with the limit named",
    limits: { maxMetadataBytes: 40 },
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.edit({ metadata: [{ at: "/a", value: "x".repeat(20) }] }));
      const more = refused(
        await storage.apply(writer.edit({ metadata: [{ at: "/b", value: "x".repeat(20) }] })),
      );
      same([more.code, more.limit], ["too-large", { name: "maxMetadataBytes", max: 40 }], "refusal");
      const { entries } = await storage.catalog("ann", ALL);
      same(
        entries.map(({ metadata, seq }) => [metadata, seq]),
        [[{ a: "x".repeat(20) }, 1]],
        "entry",
      );
    },
  },
  {
    name: "[P10] state over its limit is refused with the limit named, in ops and over channels",
    limits: { maxStateBytes: 100 },
    check: async ({ storage }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"], { state: new Uint8Array(80) }));
      const limit = { name: "maxStateBytes", max: 100 };
      const byOp = refused(await storage.apply(writer.append(["b"], { state: new Uint8Array(21) })));
      same([byOp.code, byOp.limit], ["too-large", limit], "by op");
      same(refused(await writer.state(new Uint8Array(21))).limit, limit, "by channel");
      same(accepted(await writer.state(new Uint8Array(20))).stateCursor, 2, "what fits");
      same(await writer.ids(), ["a"], "log");
    },
  },
  {
    name: "[H9] an actor's living sessions are bounded; tombstones do not count",
    limits: { maxSessionsPerActor: 2 },
    check: async ({ storage, reopen }) => {
      const [one, two, three] = ["1", "2", "3"].map((session) => new Writer(storage, { session }));
      if (one === undefined || two === undefined || three === undefined) return;
      await one.does(one.append(["a"]));
      await two.does(two.append(["a"]));
      await reopen();
      const write = three.append(["a"]);
      const full = refused(await storage.apply(write));
      same([full.code, full.limit], ["limit-reached", { name: "maxSessionsPerActor", max: 2 }], "refusal");
      const other = new Writer(storage, { actor: "bob" });
      await other.does(other.append(["a"]));
      await one.does(one.remove());
      await three.does(write);
    },
  },
  {
    name: "[P23] state commits with its op and is counted by the cursor",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      same((await writer.does(writer.append(["a"], { state: Uint8Array.of(1) }))).stateCursor, 1, "append");
      same((await writer.does(writer.append([], { state: Uint8Array.of(2) }))).stateCursor, 2, "state alone");
      same((await writer.does(writer.replace(["b"], { state: Uint8Array.of(3) }))).stateCursor, 3, "replace");
      same(accepted(await writer.state(Uint8Array.of(4))).stateCursor, 4, "channel");
      await reopen();
      const page = await writer.pull({ stateCursor: 2 });
      same([page.state, page.stateCursor], [[[3], [4]], 4], "after the cursor");
    },
  },
  {
    name: "[P35] compacted state is told from the beginning, and what came meanwhile stays",
    check: async ({ storage, reopen }) => {
      const writer = new Writer(storage);
      await writer.does(writer.append(["a"]));
      for (const n of [1, 2, 3, 4]) await writer.state(Uint8Array.of(n));
      const place = { actor: "ann", session: "s", incarnation: writer.incarnation ?? "" };
      await storage.compactState(place, { upTo: 3, merged: Uint8Array.of(9, 9) });
      await reopen();
      const state = async (stateCursor: number): Promise<unknown> =>
        (await writer.pull({ stateCursor })).state;
      same(await state(1), [[9, 9], [4]], "from before");
      same(await state(3), [[4]], "from the compacted end");
      same((await writer.pull({ stateCursor: 4 })).stateCursor, 4, "cursor");
      same(accepted(await writer.state(Uint8Array.of(5))).held, { updates: 3, bytes: 4 }, "held");
      await writer.does(writer.remove());
      await storage.compactState(place, { upTo: 4, merged: Uint8Array.of(7) });
      same(await storage.loadState({ ...place, incarnation: null }), { absent: "deleted" }, "after a delete");
    },
  },
  {
    name: "[H8] another actor's session answers as one that never was",
    check: async ({ storage }) => {
      const ann = new Writer(storage, { session: "private" });
      await ann.does(
        ann.append(["a"], { state: Uint8Array.of(1), metadata: [{ at: "/title", value: "t" }] }),
      );
      const incarnation = ann.incarnation ?? "";
      const asked = async (session: string): Promise<unknown[]> => {
        const place = { actor: "bob", session, incarnation };
        const unknown = new Writer(storage, { actor: "bob", session });
        const base = ann.head;
        return [
          await storage.pull(place, { have: null, stateCursor: 0, ...WIDE }),
          await storage.pull({ ...place, incarnation: null }, { have: base, stateCursor: 0, ...WIDE }),
          await storage.readGeneration(place, { generation: 0, from: 0, ...WIDE }),
          await storage.listGenerations(place, 10),
          await storage.loadState(place),
          await storage.apply(unknown.append(["x"], { base, incarnation })),
          await storage.apply(unknown.append(["x"], { base })),
          await storage.apply(unknown.remove({ incarnation })),
          await storage.apply(unknown.edit({ incarnation, archived: true })),
          await storage.apply({ kind: "state", ...place, update: Uint8Array.of(1) }),
        ];
      };
      same(await asked("private"), await asked("never was"), "answers");
      same(await storage.catalog("bob", ALL), { entries: [], cursor: 0, more: false }, "catalog");
      const own = new Writer(storage, { actor: "bob", session: "private" });
      await own.does(own.append(["b"]));
      same([await ann.ids(), await own.ids()], [["a"], ["b"]], "logs");
    },
  },
];
