import type { FaultCode } from "../../src/wire/fault.ts";
import type { Accepted, KnownOp, MessageBody, Refused, SessionRow, StorageLimits } from "./contract.ts";
import type { Ancestry } from "./lineage.ts";
import type { Log } from "./log.ts";

/** What a storage knows when a write's turn has come, inside the transaction that will hold its effect. */
export interface Facts {
  /** Undefined when this actor never had a session of this id. */
  readonly session: SessionRow | undefined;
  /** What is remembered of this op id in this session. */
  readonly known: KnownOp | undefined;
  readonly log: Log;
  /** The actor's catalog position and living sessions. */
  readonly position: number;
  readonly liveSessions: number;
  readonly nowMs: number;
  readonly newId: () => string;
  readonly limits: StorageLimits;
}

/** What a storage does to commit a write; everything else about it is decided here. */
export interface Commit {
  readonly next: SessionRow;
  /** How the number of the actor's living sessions changes. */
  readonly living: -1 | 0 | 1;
  /** Messages, generations and state of the life before are erased (P28). */
  readonly erase: boolean;
  /** The generation that ends. */
  readonly archive?: { readonly generation: number; readonly count: number } | undefined;
  /** The generation that begins. */
  readonly begin?: (Ancestry & { readonly generation: number }) | undefined;
  readonly put?: { readonly generation: number; readonly start: number } | undefined;
  readonly messages: readonly MessageBody[];
  /** A state update to store as number `next.stateCursor`. */
  readonly state?: Uint8Array | undefined;
  readonly remember?: KnownOp | undefined;
  readonly answer: Accepted;
}

export type Decision =
  | { readonly act: "answer"; readonly answer: Accepted }
  /** `tailFrom`: the refusal carries what follows this position, when that is short (P22). */
  | { readonly act: "refuse"; readonly refused: Refused; readonly tailFrom?: number }
  | { readonly act: "commit"; readonly commit: Commit };

export function gone(): Decision {
  return refuse("deleted", "This life of the session is over");
}

export function refuse(code: FaultCode, message: string): Decision {
  return { act: "refuse", refused: { ok: false, code, message } };
}

export function refuseState(session: SessionRow, limits: StorageLimits): Decision {
  const decision = refuseLimit("too-large", "maxStateBytes", limits.maxStateBytes);
  if (decision.act !== "refuse") return decision;
  const held = { updates: session.stateUpdates, bytes: session.stateBytes };
  return { act: "refuse", refused: { ...decision.refused, held } };
}

export function refuseLimit(code: FaultCode, name: keyof StorageLimits, max: number): Decision {
  const refused: Refused = { ok: false, code, message: `The limit ${name} is ${max}`, limit: { name, max } };
  return { act: "refuse", refused };
}
