import type { Content, ToolResultBlock } from "./content.ts";
import { checkIterable } from "./iterable.ts";
import { checkMessage, createMessage, type Message, rebuildMessage } from "./message.ts";
import { type Call, pairToolCalls, type Result } from "./tool-pairs.ts";

/** What the result says of a call that never got one. */
export const NO_RESULT = "No result was recorded for this call.";

/**
 * The history as a model may be given it: right after each message that calls tools come the results of its calls, all
 * of them and no others (S16). A call without a result gets an error result, a late result moves to its call, a result
 * without a call before it is left out. The log itself is not touched; messages that need no change are handed on as
 * they are, and the same history gives the same answer, ids included.
 * @throws InvalidInputError naming what is no message.
 */
export function toModelMessages(history: readonly Message[]): readonly Message[] {
  return repair(
    Array.from(checkIterable(history, "history"), (message, at) => checkMessage(message, `history[${at}]`)),
  );
}

function repair(history: readonly Message[]): readonly Message[] {
  const plan: Plan = { staying: new Set(), inserted: new Map(), history };
  for (const [at, calls] of pairToolCalls(history)) planTurn(at, calls, plan);
  const given: Message[] = [];
  history.forEach((message, at) => {
    const content = remaining(message, at, plan);
    if (content.length === message.content.length) given.push(message);
    else if (content.length > 0) given.push(rebuildMessage(message, { content: Object.freeze(content) }));
    for (const reply of plan.inserted.get(at) ?? []) given.push(reply);
  });
  return Object.freeze(given);
}

interface Plan {
  readonly history: readonly Message[];
  /** Results that stand where they may stand, by {@link placeOf}. */
  readonly staying: Set<string>;
  /** What comes right after a message of the history. */
  readonly inserted: Map<number, readonly Message[]>;
}

function planTurn(at: number, calls: readonly Call[], plan: Plan): void {
  const results = calls.flatMap((call) => (call.result === undefined ? [] : [call.result]));
  const away = new Map<number, Result[]>();
  for (const result of results) {
    const group = away.get(result.at);
    if (result.at === at) plan.staying.add(placeOf(result));
    else if (group === undefined) away.set(result.at, [result]);
    else group.push(result);
  }
  const lost = calls.filter((call) => call.result === undefined);
  const end = keepReplies(at, away, lost.length === 0, plan);
  const inserted = [...away.values()].map((group) => movedReply(group, plan.history));
  if (lost.length > 0) inserted.push(errorReply(at, lost, plan.history));
  if (inserted.length > 0) plan.inserted.set(end, inserted);
}

/** Walks the messages behind a turn while they hold nothing but results, keeps those that are the turn's, and takes them
 *  out of `away`. Answers the last message of that walk: what is missing comes behind it. */
function keepReplies(at: number, away: Map<number, Result[]>, noneLost: boolean, plan: Plan): number {
  let end = at;
  for (let next = at + 1; away.size > 0; next += 1) {
    const message = plan.history[next];
    if (message === undefined || message.content.length === 0) break;
    const own = away.get(next) ?? [];
    const otherAt = message.content.findIndex((block) => block.type !== "tool_result");
    // Words beside the results may stay beside them only when nothing has to come between.
    const last =
      noneLost && away.size === 1 && own.length > 0 && own.every((result) => result.blockAt < otherAt);
    if (otherAt !== -1 && !last) break;
    for (const result of own) plan.staying.add(placeOf(result));
    if (away.delete(next)) end = next;
  }
  return end;
}

function remaining(message: Message, at: number, plan: Plan): readonly Content[] {
  return message.content.filter(
    (block, blockAt) => block.type !== "tool_result" || plan.staying.has(placeOf({ at, blockAt })),
  );
}

/** Results that come late, as one message; the message they were in when they are all of it. */
function movedReply(group: readonly Result[], history: readonly Message[]): Message {
  const first = group[0] as Result;
  const source = history[first.at] as Message;
  if (source.content.length === group.length) return source;
  return reply(
    source,
    first.blockAt,
    group.map((result) => result.block),
  );
}

function errorReply(at: number, calls: readonly Call[], history: readonly Message[]): Message {
  return reply(
    history[at] as Message,
    calls[0]?.blockAt ?? 0,
    calls.map((call) => ({
      type: "tool_result",
      toolUseId: call.block.id,
      content: NO_RESULT,
      status: "error",
    })),
  );
}

/** The id is made from the message and the place that it stands for, so that it is the same each time. */
function reply(source: Message, blockAt: number, content: readonly ToolResultBlock[]): Message {
  const stem = source.id.slice(0, 100).replace(/[\uD800-\uDBFF]$/, "");
  const id = `${stem}:result-${blockAt}`;
  return createMessage({ id, role: "tool", content, createdAt: source.createdAt });
}

function placeOf(result: { readonly at: number; readonly blockAt: number }): string {
  return `${result.at}.${result.blockAt}`;
}
