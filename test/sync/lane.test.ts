import { describe, expect, test } from "vitest";
import { EMPTY_HEAD } from "../../src/model/revision.ts";
import { blankSession, type SessionOnDisk } from "../../src/store/session-rows.ts";
import type { PendingOp } from "../../src/store/sync-rows.ts";
import { EMPTY_LANE, type Lane, laneAnswered, laneSent, MAX_BURST, nextStep } from "../../src/sync/lane.ts";

const AT = "2026-01-01T00:00:00.000Z";

function waiting(ops: number): SessionOnDisk {
  const row = { ...blankSession("s", AT), incarnation: "life" };
  const append = (n: number): PendingOp => ({
    kind: "append",
    session: "s",
    n,
    opId: `op${n}`,
    incarnation: "life",
    at: AT,
    expected: null,
    messages: [{ id: `m${n}` }],
  });
  return { row, ops: Array.from({ length: ops }, (_, n) => append(n)) };
}

/** What goes out now, by op id, and the lane after it. */
function send(lane: Lane, found: SessionOnDisk): { lane: Lane; sent: string[] } {
  const step = nextStep(lane, found);
  if (step.do !== "send") return { lane, sent: [] };
  return { lane: laneSent(lane, step.frames), sent: step.frames.map(({ opId }) => opId) };
}

describe("one session's traffic", () => {
  test("[C61, P20] ops are pipelined, each on the head that stands once those before it are accepted", () => {
    const step = nextStep(EMPTY_LANE, waiting(3));
    if (step.do !== "send") throw new Error("nothing is sent");
    expect(step.frames.map((frame) => ("base" in frame ? frame.base : undefined))).toEqual([
      EMPTY_HEAD,
      { generation: 0, count: 1, lastId: "m0" },
      { generation: 0, count: 2, lastId: "m1" },
    ]);
  });

  test("[C18] an unbroken stream lets others in: after a burst all of it is answered before more goes out", () => {
    const found = waiting(MAX_BURST + 10);
    let { lane, sent } = send(EMPTY_LANE, found);
    expect(sent).toHaveLength(MAX_BURST);
    for (const opId of sent.slice(0, -1)) lane = laneAnswered(lane, opId);
    expect(send(lane, { ...found, ops: found.ops.slice(MAX_BURST - 1) }).sent).toEqual([]);
    lane = laneAnswered(lane, sent.at(-1) ?? "");
    expect(send(lane, { ...found, ops: found.ops.slice(MAX_BURST) }).sent).toHaveLength(10);
  });

  test("[C18] after others were faster one op tries, and the rest follows its acknowledgement", () => {
    const found = waiting(5);
    let { lane, sent } = send({ ...EMPTY_LANE, losses: 2 }, found);
    expect(sent).toEqual(["op0"]);
    expect(send(lane, found).sent).toEqual([]);
    lane = { ...laneAnswered(lane, "op0"), losses: 0 };
    ({ sent } = send(lane, { ...found, ops: found.ops.slice(1) }));
    expect(sent).toEqual(["op1", "op2", "op3", "op4"]);
  });
});
