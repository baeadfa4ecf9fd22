import { EMPTY_HEAD, headEquals } from "../../src/model/revision.ts";
import type { EditWrite, KnownOp, OpWrite, SessionRow, StateWrite, Write } from "./contract.ts";
import { decideAppend, decideReplace } from "./decide-log.ts";
import { type Decision, type Facts, gone, refuse, refuseLimit, refuseState } from "./decision.ts";
import { accepted, commit, withState } from "./effect.ts";
import { entryOf } from "./entry.ts";

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
  if (next.stateBytes > limits.maxStateBytes) return refuseState(session, limits);
  const row = { ...next, seq: facts.position + 1 };
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
