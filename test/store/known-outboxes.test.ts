import fc from "fast-check";
import { expect, test } from "vitest";
import { confirmOp } from "../../src/store/confirm.ts";
import { type Draft, enqueue } from "../../src/store/enqueue.ts";
import { integratePage, integratePush } from "../../src/store/integrate.ts";
import { KnownOutboxes } from "../../src/store/known-outboxes.ts";
import { headAfter, layeredLog, viewOf } from "../../src/store/outbox.ts";
import { preview } from "../../src/store/preview.ts";
import { integrateRefusal, judgeRefused } from "../../src/store/refuse.ts";
import type { PendingOp } from "../../src/store/sync-rows.ts";
import { AT, ackOf, Disk, entryOf, LIFE, pageOf, wireMessage } from "./sync-setting.ts";

type Step =
  | readonly ["append" | "checkpoint" | "replace" | "edit" | "delete", number]
  | readonly [
      "confirm" | "lose" | "refuse" | "conflict" | "judge" | "push" | "page" | "abort" | "look",
      number,
    ];

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom("append", "checkpoint", "replace", "edit", "delete"), fc.nat(3)),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constantFrom("confirm", "lose", "refuse", "conflict", "judge", "push", "page", "abort", "look"),
      fc.nat(5),
    ),
  },
);

/** A device whose outbox is read through memories: one that looks after each step, one that looks now and then. */
class Device {
  readonly disk = new Disk();
  readonly often = new KnownOutboxes();
  readonly seldom = new KnownOutboxes();
  readonly refused = new Set<string>();
  #serial = 0;

  async do([kind, size]: Step): Promise<void> {
    const { disk, often } = this;
    const opId = `op${++this.#serial}`;
    switch (kind) {
      case "append":
      case "checkpoint":
      case "replace":
      case "edit":
      case "delete":
      case "abort": {
        const work = disk.change((tx) =>
          enqueue(
            tx,
            "s",
            async ({ row, ops }) => this.#draft(kind, size, row.head, ops),
            { opId, at: AT },
            often,
          ).then(() => {
            if (kind === "abort") throw new Error("aborted");
          }),
        );
        if (kind === "abort") await expect(work).rejects.toThrow("aborted");
        else await work;
        return;
      }
      case "confirm":
      case "lose":
      case "refuse":
      case "conflict": {
        const found = await this.#here();
        const op = found?.ops[kind === "confirm" ? 0 : size];
        if (found === undefined || op === undefined) return;
        const before = found.ops.slice(0, found.ops.indexOf(op));
        const head = headAfter(before.reduce(headAfter, found.row.head), op);
        await disk.change((tx, outcome) => {
          if (kind === "confirm" || kind === "lose") {
            // Of an op whose place has long been passed, the answer says what was.
            const where = kind === "lose" && size === 0 ? found.row.head : head;
            const ack = ackOf(op.opId, where, kind === "lose" ? { outcome: "known" } : {});
            return confirmOp(tx, ack, outcome, disk.around, often);
          }
          const code = kind === "refuse" ? "too-large" : "conflict";
          const refusal = { type: "refusal", opId: op.opId, session: "s", code, message: "no" } as const;
          this.refused.add(op.opId);
          return integrateRefusal(tx, refusal, outcome, disk.around);
        });
        return;
      }
      case "judge":
        await disk.change((tx, outcome) => judgeRefused(tx, "s", this.refused, outcome, disk.around));
        return;
      case "push":
      case "page": {
        const found = await this.#here();
        const head = found?.row.head ?? { generation: 0, count: 0, lastId: null };
        const own = found?.ops[0];
        // What another device wrote, or what an op of ours brought and whose acknowledgement is lost.
        const mine = own?.kind === "append" && size % 2 === 0 ? own.messages.slice(0, size) : [];
        const messages =
          mine.length > 0
            ? mine.map((message) => ({
                opId: own?.opId ?? "",
                message: message as ReturnType<typeof wireMessage>,
              }))
            : [{ opId: `foreign ${opId}`, message: wireMessage(`f${this.#serial}`) }];
        const lastId = messages.at(-1)?.message.id ?? null;
        const next = { generation: head.generation, count: head.count + messages.length, lastId };
        const incarnation = found?.row.incarnation ?? LIFE;
        const { generation } = head;
        await disk.change((tx, outcome) => {
          if (kind === "page")
            return integratePage(
              tx,
              pageOf([], { incarnation, generation, start: head.count, messages, head: next }),
              head,
              outcome,
              disk.around,
            );
          const push = {
            type: "push",
            entry: entryOf({
              head: next,
              incarnation,
              seq: (found?.row.seq ?? 0) + 1,
              metadata: { n: size },
            }),
            append: { start: head.count, messages },
          } as const;
          return integratePush(tx, push, outcome, { ...disk.around, channelCovers: false, follows: false });
        });
        return;
      }
      case "look":
        await this.mustAgree(this.seldom);
    }
  }

  /** What is remembered and kept up is what is there. */
  async mustAgree(known: KnownOutboxes): Promise<void> {
    await this.disk.db.read(["sessions", "outbox"], async (tx) => {
      const ops = await tx.list("outbox", { prefix: ["s"] });
      const found = await known.read(tx, "s");
      expect(found?.ops ?? []).toEqual(ops);
      if (found !== undefined) expect(found.row.view).toEqual(viewOf(found.row, ops, preview));
    });
  }

  #here() {
    return this.disk.db.read(["sessions", "outbox"], (tx) => new KnownOutboxes().read(tx, "s"));
  }

  #draft(kind: string, size: number, head: PendingOpHead, ops: readonly PendingOp[]): Draft {
    const messages = Array.from({ length: size }, (_, n) => wireMessage(`${this.#serial}.${n}`));
    const { keep, keepLastId, carried } = layeredLog(head, ops);
    const expected = ops.reduce(headAfter, head);
    const metadata = size === 2 ? [{ at: "/title", value: `t${this.#serial}` }] : undefined;
    switch (kind) {
      case "checkpoint":
        return { kind, messages, keep, keepLastId, carried, expected, metadata };
      case "replace":
        return { kind, messages, expected: null, keep, keepLastId, metadata };
      case "edit":
        return {
          kind,
          archived: size % 2 === 0,
          read: { generation: head.generation, count: size },
          metadata,
        };
      case "delete":
        return { kind };
      default:
        return { kind: "append", messages, expected: size === 1 ? expected : null, metadata };
    }
  }
}

type PendingOpHead = Parameters<typeof layeredLog>[0];

test("[H12, H11] the view that is carried on from op to op is the one computed from all of them, and so is what is remembered of the outbox", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const device = new Device();
      for (const one of steps) {
        await device.do(one);
        await device.mustAgree(device.often);
      }
      await device.mustAgree(device.seldom);
    }),
    { numRuns: 400 },
  );
});

test("[H11] a look at an outbox that was read before reads what came since, and a write none of it", async () => {
  const device = new Device();
  for (let n = 0; n < 50; n += 1) await device.do(["append", 1]);
  await device.mustAgree(device.often);
  await device.do(["append", 1]);
  let read = 0;
  await device.disk.db.read(["sessions", "outbox"], async (tx) => {
    const counting = {
      get: tx.get.bind(tx),
      list: async (...given: Parameters<typeof tx.list>) => {
        const rows = await tx.list(...given);
        read += rows.length;
        return rows;
      },
    } as unknown as typeof tx;
    expect((await device.often.read(counting, "s"))?.ops).toHaveLength(51);
    expect(read).toBe(1);
    // A transaction of a moment before, asked after: it sees what stood then.
    const row = await tx.get("sessions", ["s"]);
    const earlier = { ...row, view: { ...row?.view, pending: 50 }, outbox: { ...row?.outbox, last: 50 } };
    const then = { get: async () => earlier, list: counting.list } as unknown as typeof tx;
    expect((await device.often.peek(then, "s"))?.ops.map(({ n }) => n)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    expect(read).toBe(1);
  });
});
