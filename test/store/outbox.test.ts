import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { diverged, furtherRead, headAfter, layeredLog, viewOf } from "../../src/store/outbox.ts";
import { preview } from "../../src/store/preview.ts";
import type { CheckpointOp, PendingOp } from "../../src/store/sync-rows.ts";
import { AT, headOf, wireMessage } from "./sync-setting.ts";

type Kind = "append" | "checkpoint" | "replace" | "edit" | "delete";

/** Ops as they could have been made one after another on a log of this many messages. */
function opsOf(confirmed: number, kinds: readonly (readonly [kind: Kind, size: number])[]): PendingOp[] {
  let serial = 0;
  const ops: PendingOp[] = [];
  const head = headOf(Array.from({ length: confirmed }, (_, n) => `c${n}`));
  for (const [index, [kind, size]] of kinds.entries()) {
    const base = { session: "s", n: index + 1, opId: `op${index}`, incarnation: "life", at: AT };
    const messages = Array.from({ length: size }, () => wireMessage(`m${++serial}`));
    const log = layeredLog(head, ops);
    const { keep, keepLastId, carried } = log;
    if (kind === "append") ops.push({ ...base, kind, messages, expected: null });
    else if (kind === "checkpoint")
      ops.push({
        ...base,
        kind,
        messages,
        keep,
        keepLastId,
        carried,
        expected: ops.reduce(headAfter, head),
      });
    else if (kind === "replace") {
      const count = Math.min(size, keep.count);
      const lastId = count === 0 ? null : count === keep.count ? keepLastId : `c${count - 1}`;
      ops.push({
        ...base,
        kind,
        messages,
        expected: null,
        keep: { ...keep, count },
        keepLastId: lastId,
      });
    } else if (kind === "edit") ops.push({ ...base, kind, archived: size % 2 === 0 });
    else ops.push({ ...base, kind });
  }
  return ops;
}

const kinds = fc.array(
  fc.tuple(fc.constantFrom<Kind>("append", "checkpoint", "replace", "edit", "delete"), fc.nat(3)),
  { maxLength: 12 },
);

describe("the outbox over what is confirmed", () => {
  test("[H12, P20] head, log and pending count always say the same of the view", () => {
    fc.assert(
      fc.property(fc.nat(5), kinds, (count, drawn) => {
        const ops = opsOf(count, drawn);
        const head = headOf(Array.from({ length: count }, (_, n) => `c${n}`));
        const log = layeredLog(head, ops);
        const end = ops.reduce(headAfter, head);
        expect(end.count).toBe(log.keep.count + log.carried.length);
        expect(end.lastId).toBe(log.carried.at(-1)?.id ?? log.keepLastId);
        const confirmed = {
          head,
          metadata: {},
          archived: false,
          read: { generation: 0, count: 0 },
          preview: "",
        };
        const view = viewOf(confirmed, ops, preview);
        expect(view.head).toEqual(end);
        expect(view.pending).toBe(ops.length);
        expect(view.deleted).toBe(ops.at(-1)?.kind === "delete");
        const replaced = ops.filter(({ kind }) => kind === "replace").length;
        if (!ops.some(({ kind }) => kind === "delete")) expect(end.generation).toBe(replaced);
      }),
    );
  });

  test("[H5, S7] a checkpoint that diverged holds the same messages as the replace it becomes", () => {
    fc.assert(
      fc.property(fc.nat(5), kinds, fc.nat(3), (count, drawn, size) => {
        const before = drawn.filter(([kind]) => kind !== "delete");
        const ops = opsOf(count, [...before, ["checkpoint", size]]);
        const checkpoint = ops.at(-1) as CheckpointOp;
        const head = headOf(Array.from({ length: count }, (_, n) => `c${n}`));
        const log = layeredLog(head, ops);
        const replace = diverged(checkpoint, "another");
        const alone = layeredLog(head, [replace]);
        expect(alone).toEqual(log);
        expect(replace).toMatchObject({ opId: "another", kind: "replace", expected: null });
      }),
    );
  });

  test("[P27] reading only moves forward, and a later generation is further", () => {
    const revision = fc.record({ generation: fc.nat(3), count: fc.nat(5) });
    fc.assert(
      fc.property(revision, revision, revision, (a, b, c) => {
        expect(furtherRead(a, a)).toBe(a);
        expect(furtherRead(furtherRead(a, b), c)).toEqual(furtherRead(a, furtherRead(b, c)));
        expect([a, b]).toContain(furtherRead(a, b));
        expect(furtherRead(a, b).generation).toBe(Math.max(a.generation, b.generation));
      }),
    );
  });

  test("[H11] a preview is one short line of text alone, whatever the message holds", () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string({ unit: "grapheme", maxLength: 400 }) }),
      fc.record({ type: fc.constant("tool_result"), content: fc.constant("TOOL") }),
      fc.record({ type: fc.constant("text"), text: fc.constant("x".repeat(5_000)) }),
      fc.jsonValue() as fc.Arbitrary<JsonObject[string]>,
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(block), fc.constant("none")), (content) => {
        const line = preview({ ...wireMessage("m"), content: content as JsonObject[string] });
        expect(Array.from(line).length).toBeLessThanOrEqual(140);
        expect(line).not.toMatch(/[\r\n\t]|TOOL/);
      }),
    );
  });
});
