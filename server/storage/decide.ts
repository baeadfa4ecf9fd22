import { EMPTY_HEAD, type Head, headEquals } from "../../src/model/revision.ts";
import type { FaultCode } from "../../src/wire/fault.ts";
import type {
  Accepted,
  AppendWrite,
  EditWrite,
  KnownOp,
  MessageBody,
  OpWrite,
  Refused,
  ReplaceWrite,
  SessionRow,
  StateWrite,
  StorageLimits,
  Write,
} from "./contract.ts";
import { entryOf } from "./entry.ts";
import { type Ancestry, ancestryAfter } from "./lineage.ts";
import type { Log } from "./log.ts";
import { changeMetadata } from "./metadata-change.ts";

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

/** The answer to a write (rules P13–P28). Depends on its arguments alone; changes nothing. */
export function decide(write: Write, facts: Facts): Decision {
  if (write.kind === "state") return decideState(write, facts);
  const { session, known } = facts;
  if (known !== undefined) return decideKnown(write, known);
  if (write.incarnation === null) {
    if (session !== undefined && !session.deleted) return decidePresent(write, session, facts);
    if (write.kind === "delete" && session !== undefined) return nothingToDo(write, session);
    return decideAbsent(write, facts);
  }
  if (session === undefined || session.incarnation !== write.incarnation) return gone();
  if (!session.deleted) return decidePresent(write, session, facts);
  return write.kind === "delete" ? nothingToDo(write, session) : gone();
}

function decideKnown(write: OpWrite, known: KnownOp): Decision {
  if (known.digest !== write.digest) {
    return refuse("op-reused", "This op id was used for other content");
  }
  const { incarnation, head, added, stateCursor } = known;
  return {
    act: "answer",
    answer: { ok: true, outcome: "known", incarnation, head, added, seq: 0, stateCursor },
  };
}

/** There is no session, or only a tombstone: a null incarnation creates, at the beginning alone (P15, P16). */
function decideAbsent(write: OpWrite, facts: Facts): Decision {
  const based = write.kind === "append" || write.kind === "replace";
  if (based && !headEquals(write.base, EMPTY_HEAD)) {
    return facts.session === undefined
      ? refuse("conflict", "There is no such session for this base")
      : gone();
  }
  if (write.kind !== "delete" && facts.liveSessions >= facts.limits.maxSessionsPerActor) {
    return refuseLimit("limit-reached", "maxSessionsPerActor", facts.limits.maxSessionsPerActor);
  }
  const fresh: SessionRow = {
    incarnation: facts.newId(),
    deleted: false,
    head: EMPTY_HEAD,
    stateCursor: 0,
    stateUpdates: 0,
    stateBytes: 0,
    metadata: {},
    archived: false,
    read: { generation: 0, count: 0 },
    updatedAtMs: facts.nowMs,
    seq: facts.position,
  };
  const decision = decidePresent(write, fresh, facts);
  if (decision.act !== "commit") return decision;
  const living = decision.commit.next.deleted ? 0 : 1;
  return { act: "commit", commit: { ...decision.commit, living } };
}

function decidePresent(write: OpWrite, session: SessionRow, facts: Facts): Decision {
  switch (write.kind) {
    case "append":
      return decideAppend(write, session, facts);
    case "replace":
      return decideReplace(write, session, facts);
    case "edit":
      return decideEdit(write, session, facts);
    case "delete":
      return commit(write, session, facts, {
        next: { ...session, deleted: true, metadata: {}, stateUpdates: 0, stateBytes: 0 },
        head: session.head,
        changed: true,
        living: -1,
        erase: true,
      });
  }
}

/** The order of answers to an append (P21). */
function decideAppend(write: AppendWrite, session: SessionRow, facts: Facts): Decision {
  const { base, messages } = write;
  const { head } = session;
  if (messages.length > 0 && base.generation === head.generation && base.count < head.count) {
    const standing = messages.filter(
      (message, index) => facts.log.idAt(head.generation, base.count + index) === message.id,
    ).length;
    if (standing === messages.length) return alreadyThere(write, session, facts);
    if (standing > 0) return refuse("overlap", "Some of these messages stand there already, others do not");
  }
  if (!headEquals(base, head)) return conflict(base, session, facts);
  if (holdsAny(messages, head, facts.log)) return duplicate();
  const next = appended(head, messages);
  return commit(write, session, facts, {
    next: { ...session, head: next },
    head: next,
    added: messages.length,
    changed: messages.length > 0,
    put: { generation: head.generation, start: head.count },
  });
}

function alreadyThere(write: AppendWrite, session: SessionRow, facts: Facts): Decision {
  const head = appended(write.base, write.messages);
  return commit(write, session, facts, {
    next: session,
    head,
    added: write.messages.length,
    changed: false,
    outcome: "present",
  });
}

function decideReplace(write: ReplaceWrite, session: SessionRow, facts: Facts): Decision {
  const { base, keep, messages } = write;
  if (!headEquals(base, session.head)) return conflict(base, session, facts);
  const count =
    keep.generation === session.head.generation ? session.head.count : facts.log.countOf(keep.generation);
  if (count === undefined || keep.count > count) {
    return refuse("malformed", "keep names messages that are not there");
  }
  if (holdsAny(messages, keep, facts.log)) return duplicate();
  const generation = session.head.generation + 1;
  const lastKept = keep.count === 0 ? null : (facts.log.idAt(keep.generation, keep.count - 1) ?? null);
  const head = appended({ generation, count: keep.count, lastId: lastKept }, messages);
  return commit(write, session, facts, {
    next: { ...session, head },
    head,
    added: messages.length,
    changed: true,
    archive: { generation: session.head.generation, count: session.head.count },
    begin: { generation, ...ancestryAfter(keep, (kept) => facts.log.ancestryOf(kept)) },
    put: { generation, start: keep.count },
  });
}

function decideEdit(write: EditWrite, session: SessionRow, facts: Facts): Decision {
  const { archived = session.archived, read } = write;
  const further =
    read !== undefined &&
    (read.generation > session.read.generation ||
      (read.generation === session.read.generation && read.count > session.read.count));
  return commit(write, session, facts, {
    next: { ...session, archived, read: further ? read : session.read },
    head: session.head,
    // A session that this edit creates is a change by itself.
    changed: archived !== session.archived || further || facts.session?.deleted !== false,
  });
}

function decideState(write: StateWrite, facts: Facts): Decision {
  const { session, limits } = facts;
  if (session === undefined || session.deleted || session.incarnation !== write.incarnation) return gone();
  const next = withState(session, write.update);
  if (next.stateBytes > limits.maxStateBytes) return refuseState(limits);
  const row = { ...next, seq: facts.position + 1, updatedAtMs: facts.nowMs };
  return {
    act: "commit",
    commit: {
      next: row,
      living: 0,
      erase: false,
      messages: [],
      state: write.update,
      answer: accepted(row, {
        outcome: "applied",
        head: row.head,
        added: 0,
        entry: entryOf(write.session, row),
      }),
    },
  };
}

interface Effect extends Partial<Pick<Commit, "archive" | "begin" | "put" | "living" | "erase">> {
  readonly next: SessionRow;
  readonly head: Head;
  readonly added?: number;
  readonly changed: boolean;
  readonly outcome?: "applied" | "present";
}

/** State and metadata join the op's own effect, or refuse all of it (P13, P23, P27). */
function commit(write: OpWrite, session: SessionRow, facts: Facts, effect: Effect): Decision {
  const { limits } = facts;
  const state = write.kind === "append" || write.kind === "replace" ? write.state : undefined;
  const changes = write.kind === "delete" ? undefined : write.metadata;
  const stateful = state === undefined ? effect.next : withState(effect.next, state);
  if (state !== undefined && stateful.stateBytes > limits.maxStateBytes) return refuseState(limits);
  const metadata = changeMetadata(session.metadata, changes, limits.maxMetadataBytes);
  if (metadata === "too-large") {
    return refuseLimit("too-large", "maxMetadataBytes", limits.maxMetadataBytes);
  }
  const merged = metadata === "same" ? stateful : { ...stateful, metadata };
  const changed =
    effect.changed || state !== undefined || metadata !== "same" || facts.session?.deleted !== false;
  const next = changed ? { ...merged, seq: facts.position + 1, updatedAtMs: facts.nowMs } : merged;
  const { head, added = 0, outcome = "applied" } = effect;
  const answer = accepted(next, {
    outcome,
    head,
    added,
    entry: changed ? entryOf(write.session, next) : undefined,
  });
  return {
    act: "commit",
    commit: {
      next,
      living: effect.living ?? 0,
      erase: effect.erase ?? false,
      archive: effect.archive,
      begin: effect.begin,
      put: effect.put,
      messages:
        effect.put === undefined || write.kind === "edit" || write.kind === "delete" ? [] : write.messages,
      state,
      remember: {
        digest: write.digest,
        incarnation: next.incarnation,
        head,
        added,
        stateCursor: next.stateCursor,
      },
      answer,
    },
  };
}

function accepted(row: SessionRow, told: Pick<Accepted, "outcome" | "head" | "added" | "entry">): Accepted {
  return {
    ok: true,
    ...told,
    incarnation: row.incarnation,
    seq: told.entry === undefined ? 0 : row.seq,
    stateCursor: row.stateCursor,
    deleted: row.deleted,
    held: { updates: row.stateUpdates, bytes: row.stateBytes },
  };
}

/** A delete of what is deleted: nothing changes, and it is remembered like any op (P28). */
function nothingToDo(write: OpWrite, session: SessionRow): Decision {
  const { incarnation, head, stateCursor } = session;
  return {
    act: "commit",
    commit: {
      next: session,
      living: 0,
      erase: false,
      messages: [],
      remember: { digest: write.digest, incarnation, head, added: 0, stateCursor },
      answer: { ok: true, outcome: "applied", incarnation, head, added: 0, seq: 0, stateCursor },
    },
  };
}

function withState(row: SessionRow, update: Uint8Array): SessionRow {
  return {
    ...row,
    stateCursor: row.stateCursor + 1,
    stateUpdates: row.stateUpdates + 1,
    stateBytes: row.stateBytes + update.byteLength,
  };
}

function appended(base: Head, messages: readonly MessageBody[]): Head {
  return {
    generation: base.generation,
    count: base.count + messages.length,
    lastId: messages.at(-1)?.id ?? base.lastId,
  };
}

/** Ids are unique within a generation (P26): against what stands there, and within the op. */
function holdsAny(
  messages: readonly MessageBody[],
  kept: { generation: number; count: number },
  log: Log,
): boolean {
  if (messages.length > 1 && new Set(messages.map(({ id }) => id)).size < messages.length) return true;
  return messages.some(({ id }) => log.holds(kept, id));
}

function conflict(base: Head, session: SessionRow, facts: Facts): Decision {
  const { head, incarnation } = session;
  const refused: Refused = {
    ok: false,
    code: "conflict",
    message: "The session has moved on",
    actual: { incarnation, head },
  };
  const prefix = base.generation === head.generation && base.count <= head.count && facts.log.contains(base);
  return prefix ? { act: "refuse", refused, tailFrom: base.count } : { act: "refuse", refused };
}

function gone(): Decision {
  return refuse("deleted", "This life of the session is over");
}

function duplicate(): Decision {
  return refuse("duplicate-id", "A message of this id stands in the log already, or twice in the op");
}

function refuse(code: FaultCode, message: string): Decision {
  return { act: "refuse", refused: { ok: false, code, message } };
}

function refuseState(limits: StorageLimits): Decision {
  return refuseLimit("too-large", "maxStateBytes", limits.maxStateBytes);
}

function refuseLimit(code: FaultCode, name: keyof StorageLimits, max: number): Decision {
  const refused: Refused = { ok: false, code, message: `The limit ${name} is ${max}`, limit: { name, max } };
  return { act: "refuse", refused };
}
