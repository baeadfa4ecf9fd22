import { encodeBase64 } from "../src/model/base64.ts";
import type { CatalogEntry } from "../src/wire/catalog.ts";
import { writeFrame } from "../src/wire/codec.ts";
import type { FaultCode, LimitNamed } from "../src/wire/fault.ts";
import type { Change } from "./bus/contract.ts";
import type {
  Accepted,
  CatalogAnswer,
  GenerationAnswer,
  PullAnswer,
  Refused,
  StoredMessage,
} from "./storage/contract.ts";

// Stored messages are JSON text already: frames that carry them are put together as text, and no message is parsed
// and written again on its way out.

/** What an op is called in its answers. */
export interface OpName {
  readonly opId: string;
  readonly session: string;
}

export function ackText({ opId, session }: OpName, answer: Accepted): string {
  const { incarnation, outcome, head, added, seq, stateCursor } = answer;
  return writeFrame({ type: "ack", opId, session, incarnation, outcome, head, added, seq, stateCursor });
}

export function refusalText({ opId, session }: OpName, refused: Omit<Refused, "ok">): string {
  const { code, message, limit, actual, tail } = refused;
  const frame = writeFrame({
    type: "refusal",
    opId,
    session,
    code,
    message,
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
  });
  return tail === undefined ? frame : withField(frame, "tail", messagesText(tail));
}

export function pageText(asked: { id: string; session: string }, answer: PullAnswer): string {
  const frame = JSON.stringify({
    type: "page",
    id: asked.id,
    session: asked.session,
    incarnation: answer.incarnation,
    generation: answer.head.generation,
    start: answer.start,
    head: answer.head,
    more: answer.more,
    state: answer.state.map(encodeBase64),
    stateCursor: answer.stateCursor,
    ...(answer.behind ? { behind: true } : {}),
  });
  return withField(frame, "messages", messagesText(answer.messages));
}

export function generationPageText(
  asked: { id: string; generation: number; from: number },
  answer: GenerationAnswer,
): string {
  const { id, generation, from: start } = asked;
  const frame = JSON.stringify({ type: "generation-page", id, generation, start, more: answer.more });
  return withField(frame, "messages", messagesText(answer.messages));
}

export function catalogPageText(id: string, answer: CatalogAnswer): string {
  const { entries, cursor, more } = answer;
  return writeFrame({ type: "catalog-page", id, entries: [...entries], cursor, more });
}

/** A push; what would make it longer than `maxBytes` beyond the entry is left out, and pulled (P43). */
export function pushText(change: Change, maxBytes: number): string {
  const frame = pushHead(change.entry);
  const append = change.append === undefined ? undefined : appendText(change.append, maxBytes);
  const told = append === undefined ? frame : withField(frame, "append", append);
  const { state } = change;
  if (state === undefined) return told;
  const text = JSON.stringify({ after: state.after, updates: state.updates.map(encodeBase64) });
  return text.length > maxBytes ? told : withField(told, "state", text);
}

export function notAnsweredText(id: string, code: FaultCode, message: string): string {
  return writeFrame({ type: "not-answered", id, code, message });
}

export interface FaultTold {
  readonly code: FaultCode;
  readonly message: string;
  readonly limit?: LimitNamed | undefined;
  readonly protocol?: number | undefined;
}

export function faultText({ code, message, limit, protocol }: FaultTold): string {
  return writeFrame({
    type: "fault",
    code,
    message,
    ...(limit === undefined ? {} : { limit }),
    ...(protocol === undefined ? {} : { protocol }),
  });
}

function pushHead(entry: CatalogEntry): string {
  return writeFrame({ type: "push", entry });
}

function appendText(append: NonNullable<Change["append"]>, maxBytes: number): string | undefined {
  const text = messagesText(append.messages);
  return text.length > maxBytes ? undefined : `{"start":${append.start},"messages":${text}}`;
}

function messagesText(messages: readonly StoredMessage[]): string {
  return `[${messages.map(({ op, body }) => `{"opId":${JSON.stringify(op)},"message":${body}}`).join(",")}]`;
}

function withField(object: string, name: string, value: string): string {
  return `${object.slice(0, -1)},"${name}":${value}}`;
}
