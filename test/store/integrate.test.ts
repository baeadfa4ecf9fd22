import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { confirmOp } from "../../src/store/confirm.ts";
import { enqueue } from "../../src/store/enqueue.ts";
import { integrateEntry, integratePage, integratePush } from "../../src/store/integrate.ts";
import { integrateRefusal, judgeRefused } from "../../src/store/refuse.ts";
import { AT, ackOf, Disk, entryOf, headOf, pageOf, wireMessage } from "./sync-setting.ts";

const live = { channelCovers: false, follows: true };

/** A device that holds these messages, confirmed. */
async function holding(ids: readonly string[]): Promise<Disk> {
  const disk = new Disk();
  await disk.change(async (tx, outcome) => {
    await integrateEntry(tx, entryOf({ head: headOf(ids) }), outcome, disk.around);
    await integratePage(tx, pageOf(ids), headOf([]), outcome, disk.around);
  });
  return disk;
}

function append(disk: Disk, id: string): Promise<unknown> {
  return disk.change((tx) =>
    enqueue(tx, "s", async () => ({ kind: "append", messages: [wireMessage(id)], expected: null }), {
      opId: `op of ${id}`,
      at: AT,
    }),
  );
}

describe("what a relay tells becomes rows", () => {
  test("[P40, P44] an entry makes the session known, and a pull due until its log is here", async () => {
    const disk = new Disk();
    const told = await disk.change((tx, outcome) =>
      integrateEntry(
        tx,
        entryOf({ head: headOf(["a", "b"]), metadata: { title: "T" } }),
        outcome,
        disk.around,
      ),
    );
    expect([...told.pull]).toEqual(["s"]);
    expect((await disk.session()).row).toMatchObject({
      incarnation: "life",
      head: headOf([]),
      view: { metadata: { title: "T" } },
    });
    const first = await disk.change((tx, outcome) =>
      integratePage(
        tx,
        pageOf(["a"], { head: headOf(["a", "b"]), more: true }),
        headOf([]),
        outcome,
        disk.around,
      ),
    );
    expect([...first.pull]).toEqual(["s"]);
    const last = await disk.change((tx, outcome) =>
      integratePage(
        tx,
        pageOf(["b"], { start: 1, head: headOf(["a", "b"]) }),
        headOf(["a"]),
        outcome,
        disk.around,
      ),
    );
    expect([...last.pull]).toEqual([]);
    expect(await disk.seen()).toEqual(["a confirmed", "b confirmed"]);
  });

  test("[P41, P42] an entry from before what is held changes nothing", async () => {
    const disk = await holding(["a"]);
    await disk.change((tx, outcome) =>
      integrateEntry(
        tx,
        entryOf({ head: headOf(["a"]), seq: 9, metadata: { title: "new" } }),
        outcome,
        disk.around,
      ),
    );
    const before = (await disk.session()).row;
    await disk.change((tx, outcome) =>
      integrateEntry(
        tx,
        entryOf({ seq: 8, metadata: { title: "old" }, deleted: true }),
        outcome,
        disk.around,
      ),
    );
    expect((await disk.session()).row).toEqual(before);
  });

  test("[P32, P43] a push that does not continue what is held is not integrated: a pull is due", async () => {
    const disk = await holding(["a"]);
    const told = await disk.change((tx, outcome) =>
      integratePush(
        tx,
        {
          type: "push",
          entry: entryOf({ head: headOf(["a", "b", "c"]), seq: 3 }),
          append: { start: 2, messages: [{ opId: "op of c", message: wireMessage("c") }] },
        },
        outcome,
        { ...disk.around, ...live },
      ),
    );
    expect([...told.pull]).toEqual(["s"]);
    expect(await disk.seen()).toEqual(["a confirmed"]);
  });

  test("[C24, P42, H4] one append, told in any order and as often as one likes, stands once and leaves the outbox", async () => {
    const ack = (disk: Disk) =>
      disk.change((tx, outcome) => confirmOp(tx, ackOf("op of m", headOf(["a", "m"])), outcome, disk.around));
    const known = (disk: Disk) =>
      disk.change((tx, outcome) =>
        confirmOp(
          tx,
          ackOf("op of m", headOf(["a", "m"]), { outcome: "known", seq: 0 }),
          outcome,
          disk.around,
        ),
      );
    const push = (disk: Disk) =>
      disk.change((tx, outcome) =>
        integratePush(
          tx,
          {
            type: "push",
            entry: entryOf({ head: headOf(["a", "m"]), seq: 2 }),
            append: { start: 1, messages: [{ opId: "op of m", message: wireMessage("m") }] },
          },
          outcome,
          { ...disk.around, ...live },
        ),
      );
    const page = (disk: Disk) =>
      disk.change((tx, outcome) =>
        integratePage(
          tx,
          pageOf(["m"], { start: 1, head: headOf(["a", "m"]) }),
          headOf(["a"]),
          outcome,
          disk.around,
        ),
      );
    const entry = (disk: Disk) =>
      disk.change((tx, outcome) =>
        integrateEntry(tx, entryOf({ head: headOf(["a", "m"]), seq: 2 }), outcome, disk.around),
      );
    const tellings = fc.array(fc.constantFrom(ack, known, push, page, entry), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(tellings, async (told) => {
        const disk = await holding(["a"]);
        await append(disk, "m");
        for (const tell of told) {
          await tell(disk);
          const seen = await disk.seen();
          expect(seen.filter((line) => line.startsWith("m "))).toHaveLength(1);
        }
        if (told.some((tell) => tell !== entry)) {
          expect(await disk.seen()).toEqual(["a confirmed", "m confirmed"]);
          expect((await disk.session()).ops).toEqual([]);
        } else expect(await disk.seen()).toEqual(["a confirmed", "m pending"]);
        const { row, ops } = await disk.session();
        expect(row.view.pending).toBe(ops.length);
      }),
      { numRuns: 300 },
    );
  });

  test("[P31, H5] a page of a later generation archives what was held, and keeps the prefix that it kept", async () => {
    const disk = await holding(["a", "b", "c"]);
    await disk.change((tx, outcome) =>
      integratePage(
        tx,
        pageOf(["x"], { generation: 1, start: 2, head: headOf(["a", "b", "x"], 1) }),
        headOf(["a", "b", "c"]),
        outcome,
        disk.around,
      ),
    );
    expect(await disk.seen()).toEqual(["a confirmed", "b confirmed", "x confirmed"]);
    const archived = await disk.db.read(["generations"], (tx) => tx.list("generations"));
    // Whether others had added to it before it was replaced cannot be told from here.
    expect(archived).toMatchObject([{ generation: 0, count: 3, whole: false }]);
  });

  test("[P33] what the relay lost goes into the outbox first, with its ids, before what waits there", async () => {
    const disk = await holding(["a", "b", "c"]);
    await append(disk, "m");
    await disk.change((tx, outcome) =>
      integratePage(
        tx,
        pageOf([], { start: 1, head: headOf(["a"]), behind: true }),
        headOf(["a", "b", "c"]),
        outcome,
        disk.around,
      ),
    );
    expect(await disk.seen()).toEqual(["a confirmed", "b pending", "c pending", "m pending"]);
  });

  test("[C43, P28, H10] a tombstone ends the session here; ops for that life are set aside, none disappears", async () => {
    const disk = await holding(["a"]);
    await append(disk, "m");
    const told = await disk.change((tx, outcome) =>
      integrateEntry(tx, entryOf({ deleted: true, seq: 5 }), outcome, disk.around),
    );
    expect([...told.gone]).toEqual(["s"]);
    expect(await disk.seen()).toEqual(["m rejected"]);
    const rows = await disk.db.read(["sessions", "runs", "outbox", "rejected"], async (tx) => ({
      sessions: await tx.list("sessions"),
      runs: await tx.list("runs"),
      outbox: await tx.list("outbox"),
      reasons: (await tx.list("rejected")).map(({ reason }) => reason),
    }));
    expect(rows).toEqual({ sessions: [], runs: [], outbox: [], reasons: ["deleted"] });
  });

  test("[P15] another life under the same id: nothing of the old one is left", async () => {
    const disk = await holding(["a"]);
    await disk.change((tx, outcome) =>
      integrateEntry(tx, entryOf({ incarnation: "next", head: headOf(["z"]), seq: 7 }), outcome, disk.around),
    );
    expect((await disk.session()).row).toMatchObject({ incarnation: "next", head: headOf([]) });
    expect(await disk.seen()).toEqual([]);
  });

  for (const code of [
    "too-large",
    "overlap",
    "duplicate-id",
    "op-reused",
    "malformed",
    "invalid-state",
  ] as const) {
    test(`[C27, H10] ${code}: the op is set aside with its reason and content, those behind it stay`, async () => {
      const disk = await holding(["a"]);
      await append(disk, "m");
      await append(disk, "n");
      const refusal = { type: "refusal", opId: "op of m", session: "s", code, message: "no" } as const;
      await disk.change((tx, outcome) => integrateRefusal(tx, refusal, outcome, disk.around));
      expect(await disk.seen()).toEqual(["a confirmed", "n pending", "m rejected"]);
      const rejected = await disk.db.read(["rejected"], (tx) => tx.list("rejected"));
      expect(rejected).toMatchObject([{ opId: "op of m", reason: code, message: "no" }]);
    });
  }

  test("[C16] try-again and an expired token leave the op where it is", async () => {
    const disk = await holding(["a"]);
    await append(disk, "m");
    for (const code of ["try-again", "unauthenticated"] as const) {
      const refusal = { type: "refusal", opId: "op of m", session: "s", code, message: "later" } as const;
      await disk.change((tx, outcome) => integrateRefusal(tx, refusal, outcome, disk.around));
      expect(await disk.seen()).toEqual(["a confirmed", "m pending"]);
    }
  });

  test("[P22, C61] a conflict's tail lands, and the op stands behind it; one that expected the old head is set aside", async () => {
    for (const expected of [null, headOf(["a"])]) {
      const disk = await holding(["a"]);
      await disk.change((tx) =>
        enqueue(tx, "s", async () => ({ kind: "append", messages: [wireMessage("m")], expected }), {
          opId: "op of m",
          at: AT,
        }),
      );
      const refusal = {
        type: "refusal",
        opId: "op of m",
        session: "s",
        code: "conflict",
        message: "moved",
        actual: { incarnation: "life", head: headOf(["a", "f"]) },
        tail: [{ opId: "op of f", message: wireMessage("f") }],
      } as const;
      const told = await disk.change((tx, outcome) =>
        integrateRefusal(tx, { ...refusal, tail: [...refusal.tail] }, outcome, disk.around),
      );
      expect([...told.refused]).toEqual(["op of m"]);
      expect([...told.pull]).toEqual([]);
      await disk.change((tx, outcome) => judgeRefused(tx, "s", told.refused, outcome, disk.around));
      expect(await disk.seen()).toEqual([
        "a confirmed",
        "f confirmed",
        expected === null ? "m pending" : "m rejected",
      ]);
    }
  });
});
