import { encodeBase64 } from "../model/base64.ts";
import type { Head } from "../model/revision.ts";
import { headAfter } from "../store/outbox.ts";
import type { SessionOnDisk } from "../store/session-rows.ts";
import type { PendingOp } from "../store/sync-rows.ts";
import type { OpFrame } from "../wire/client-frames.ts";
import type { WireMessage } from "../wire/shapes.ts";

/**
 * How many ops of one session go out before all of them must be answered. Up to there they are pipelined; then others
 * get their turn, whom an unbroken stream of ops would have refused for ever.
 */
export const MAX_BURST = 64;

/**
 * One session's traffic on the present connection. It forgets everything when the connection ends: whatever was in
 * flight is pending again, and is recognised by its op id when it is sent again.
 */
export interface Lane {
  /** Sent and not answered, in order. */
  readonly inFlight: readonly string[];
  /** How many were sent since nothing was in flight. */
  readonly burst: number;
  /** Refused because the head had moved, and not judged yet. */
  readonly refused: ReadonlySet<string>;
  /** What is held does not continue what the relay has. */
  readonly behind: boolean;
  readonly pulling: boolean;
  /** How many bursts in a row were refused because others were faster. */
  readonly losses: number;
  /** The relay asked for patience, or others get their turn. */
  readonly resting: boolean;
}

export const EMPTY_LANE: Lane = {
  inFlight: [],
  burst: 0,
  refused: new Set(),
  behind: false,
  pulling: false,
  losses: 0,
  resting: false,
};

export type LaneStep =
  | { readonly do: "wait" }
  | { readonly do: "pull" }
  | { readonly do: "judge" }
  | { readonly do: "send"; readonly frames: readonly OpFrame[] };

/**
 * What comes next for a session. Ops go in order and pipelined, each naming the head that stands once those before it
 * are accepted. After a refusal nothing is sent until all answers are in and the log is caught up.
 */
export function nextStep(lane: Lane, { row, ops }: SessionOnDisk): LaneStep {
  if (lane.pulling || lane.resting) return { do: "wait" };
  const landing = ops.some((op) => op.landed !== undefined);
  if (lane.behind || landing || lane.refused.size > 0) {
    if (lane.inFlight.length > 0) return { do: "wait" };
    if (lane.behind || landing) return row.incarnation === null ? { do: "wait" } : { do: "pull" };
    return { do: "judge" };
  }
  // Where others were faster again, one op finds out whether the way is free; the rest follows its acknowledgement.
  const most = lane.losses > 1 ? 1 : MAX_BURST;
  const frames: OpFrame[] = [];
  const sent = new Set(lane.inFlight);
  let head: Head = row.head;
  for (const op of ops) {
    if (!sent.has(op.opId)) {
      if (lane.burst + frames.length >= most) break;
      frames.push(frameOf(op, head));
    }
    head = headAfter(head, op);
    // What follows a delete is for another life, whose beginning is known when this one has ended.
    if (op.kind === "delete") break;
  }
  return frames.length === 0 ? { do: "wait" } : { do: "send", frames };
}

/** The op as it is sent on `head`, unless it expects a head of its own. */
export function frameOf(op: PendingOp, head: Head): OpFrame {
  const { opId, session, incarnation } = op;
  const beside = {
    ...(op.state === undefined ? {} : { state: encodeBase64(op.state.update) }),
    ...(op.metadata === undefined ? {} : { metadata: [...op.metadata] }),
  };
  const named = { opId, session, incarnation };
  const fixed = op.kind !== "checkpoint" && "expected" in op && op.expected !== null;
  const rebases = fixed ? {} : ({ rebases: true } as const);
  switch (op.kind) {
    case "append":
    case "checkpoint": {
      const messages = op.messages as readonly WireMessage[];
      return {
        type: "append",
        ...named,
        base: op.expected ?? head,
        ...rebases,
        messages: [...messages],
        ...beside,
      };
    }
    case "replace": {
      const messages = op.messages as readonly WireMessage[];
      return {
        type: "replace",
        ...named,
        base: op.expected ?? head,
        ...rebases,
        keep: op.keep,
        messages: [...messages],
        ...beside,
      };
    }
    case "edit": {
      const { archived, read } = op;
      return {
        type: "edit",
        ...named,
        ...(op.metadata === undefined ? {} : { metadata: [...op.metadata] }),
        ...(archived === undefined ? {} : { archived }),
        ...(read === undefined ? {} : { read }),
      };
    }
    case "delete":
      return { type: "delete", ...named };
  }
}

export function laneSent(lane: Lane, frames: readonly OpFrame[]): Lane {
  const inFlight = [...lane.inFlight, ...frames.map(({ opId }) => opId)];
  return { ...lane, inFlight, burst: lane.burst + frames.length };
}

export function laneAnswered(lane: Lane, opId: string): Lane {
  const inFlight = lane.inFlight.filter((id) => id !== opId);
  return { ...lane, inFlight, burst: inFlight.length === 0 ? 0 : lane.burst };
}
