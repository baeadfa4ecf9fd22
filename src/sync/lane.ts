import { encodeBase64 } from "../model/base64.ts";
import type { Head } from "../model/revision.ts";
import { headAfter } from "../store/outbox.ts";
import type { SessionOnDisk } from "../store/session-rows.ts";
import type { PendingOp } from "../store/sync-rows.ts";
import type { OpFrame } from "../wire/frames.ts";
import type { WireMessage } from "../wire/shapes.ts";

/** How many ops of one session may wait for their answers at once. */
export const MAX_IN_FLIGHT = 64;

/**
 * One session's traffic on the present connection. It forgets everything when the connection ends: whatever was in
 * flight is pending again, and is recognised by its op id when it is sent again.
 */
export interface Lane {
  /** Sent and not answered, in order. */
  readonly inFlight: readonly string[];
  /** Refused because the head had moved, and not judged yet. */
  readonly refused: ReadonlySet<string>;
  /** What is held does not continue what the relay has. */
  readonly behind: boolean;
  readonly pulling: boolean;
  /** The relay asked for patience. */
  readonly resting: boolean;
}

export const EMPTY_LANE: Lane = {
  inFlight: [],
  refused: new Set(),
  behind: false,
  pulling: false,
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
  const frames: OpFrame[] = [];
  const sent = new Set(lane.inFlight);
  let head: Head = row.head;
  for (const op of ops) {
    if (!sent.has(op.opId)) {
      if (lane.inFlight.length + frames.length >= MAX_IN_FLIGHT) break;
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
  switch (op.kind) {
    case "append":
    case "checkpoint": {
      const messages = op.messages as readonly WireMessage[];
      return { type: "append", ...named, base: op.expected ?? head, messages: [...messages], ...beside };
    }
    case "replace": {
      const messages = op.messages as readonly WireMessage[];
      return {
        type: "replace",
        ...named,
        base: op.expected ?? head,
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
  return { ...lane, inFlight: [...lane.inFlight, ...frames.map(({ opId }) => opId)] };
}

export function laneAnswered(lane: Lane, opId: string): Lane {
  return { ...lane, inFlight: lane.inFlight.filter((id) => id !== opId) };
}
