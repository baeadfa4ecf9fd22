import type {
  Absent,
  GenerationAnswer,
  GenerationQuestion,
  PullAnswer,
  PullQuestion,
  Refused,
  SessionRow,
  StorageLimits,
} from "./contract.ts";
import type { Log } from "./log.ts";

/** A session's state updates as a storage gives them. */
export interface StateRows {
  /** In order, those numbered above the cursor. */
  updatesFrom(cursor: number): Iterable<{ readonly n: number; readonly update: Uint8Array }>;
}

/** One page of what a client that holds `have` lacks (rules P30, P31, P33, P35). */
export function answerPull(
  question: PullQuestion,
  from: { readonly row: SessionRow; readonly log: Log; readonly state: StateRows },
): PullAnswer {
  const { row, log } = from;
  const { have } = question;
  const { head, incarnation } = row;
  const behind = have !== null && have.generation === head.generation && have.count > head.count;
  const start = behind ? head.count : have === null ? 0 : log.commonWith(have, head);
  const page = log.read(head, start, question);
  const told = { incarnation, head, start, messages: page.messages, behind };
  if (page.more) return { ...told, more: true, state: [], stateCursor: question.stateCursor };
  // A cursor from before a restored backup knows of updates that are not here: all are told again.
  const cursor = question.stateCursor > row.stateCursor ? 0 : question.stateCursor;
  const state: Uint8Array[] = [];
  let stateCursor = cursor;
  let bytes = page.messages.reduce((sum, { body }) => sum + body.length, 0);
  for (const { n, update } of from.state.updatesFrom(cursor)) {
    bytes += Math.ceil(update.byteLength / 3) * 4;
    if (bytes > question.maxBytes && state.length > 0) return { ...told, more: true, state, stateCursor };
    state.push(update);
    stateCursor = n;
  }
  return { ...told, more: false, state, stateCursor: row.stateCursor };
}

/** One page of a generation, the current one or an archived one. */
export function answerGeneration(question: GenerationQuestion, log: Log): GenerationAnswer | Absent {
  const { generation } = question;
  const count = log.countOf(generation);
  return count === undefined
    ? { absent: "malformed" }
    : log.read({ generation, count }, question.from, question);
}

/** The refusal, with the tail where it is asked for and short enough (P22). */
export function refusalWithTail(
  decided: { readonly refused: Refused; readonly tailFrom?: number },
  log: Log,
  limits: StorageLimits,
): Refused {
  const { refused, tailFrom } = decided;
  const head = refused.actual?.head;
  if (tailFrom === undefined || head === undefined) return refused;
  if (head.count - tailFrom > limits.maxTailMessages) return refused;
  const bounds = { maxMessages: limits.maxTailMessages, maxBytes: limits.maxTailBytes };
  const { messages, more } = log.read(head, tailFrom, bounds);
  return more ? refused : { ...refused, tail: messages };
}
