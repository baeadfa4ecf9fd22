import { type Head, headEquals } from "../../src/model/revision.ts";
import type { AppendWrite, MessageBody, Refused, ReplaceWrite, SessionRow } from "./contract.ts";
import { type Decision, type Facts, refuse } from "./decision.ts";
import { commit } from "./effect.ts";
import { ancestryAfter } from "./lineage.ts";
import type { Log } from "./log.ts";

/** The order of answers to an append (P21). */
export function decideAppend(write: AppendWrite, session: SessionRow, facts: Facts): Decision {
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

export function decideReplace(write: ReplaceWrite, session: SessionRow, facts: Facts): Decision {
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

function duplicate(): Decision {
  return refuse("duplicate-id", "A message of this id stands in the log already, or twice in the op");
}
