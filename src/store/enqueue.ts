import { ConflictError, invalidInput } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { type Message, serializeMessage } from "../model/message.ts";
import { messageEquals } from "../model/message-equality.ts";
import { type Head, headEquals, type Revision, revisionEquals } from "../model/revision.ts";
import { diffMetadata } from "../wire/metadata.ts";
import type { Writer } from "./database.ts";
import { KnownOutboxes } from "./known-outboxes.ts";
import { type Intent, ViewMovedError } from "./live-store.ts";
import { layeredLog } from "./outbox.ts";
import { blankSession, putAfterOp, type SessionOnDisk, takeNumber } from "./session-rows.ts";
import type { OpState, PendingOp, SyncRows } from "./sync-rows.ts";

/** What a kind of op holds beside what every op has. */
export type Draft = PendingOp extends infer Op
  ? Op extends PendingOp
    ? Omit<Op, "session" | "n" | "opId" | "incarnation" | "at">
    : never
  : never;

/**
 * Puts an op into the outbox and the session's view in one transaction. `draft` sees what is there, and may refuse.
 * Costs what was not `known` of the outbox before.
 */
export async function enqueue(
  tx: Writer<SyncRows>,
  session: string,
  draft: (found: SessionOnDisk) => Promise<Draft | undefined>,
  made: { readonly opId: string; readonly at: string },
  known: KnownOutboxes = new KnownOutboxes(),
): Promise<PendingOp | undefined> {
  const found = (await known.peek(tx, session)) ?? { row: blankSession(session, made.at), ops: [] };
  const drafted = await draft(found);
  if (drafted === undefined) return undefined;
  const n = await takeNumber(tx);
  // After a pending delete, an op is for the session's next life.
  const incarnation =
    found.row.view.deleted || found.ops.some(({ kind }) => kind === "delete") ? null : found.row.incarnation;
  const op: PendingOp = { ...drafted, session, n, incarnation, ...made };
  await tx.put("outbox", op);
  const updatedAt = drafted.kind === "edit" ? found.row.updatedAt : made.at;
  await putAfterOp(tx, { ...found.row, updatedAt }, op);
  return op;
}

/** The messages of a view, as a write looks at them. */
export interface Present {
  readonly messages: readonly Message[];
  has(id: string): boolean;
}

/** What goes into the op beside the log. */
export interface DraftBeside {
  readonly state?: OpState | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly firstMetadata?: JsonObject | undefined;
}

/**
 * The op that a write means, given what is there. Undefined when it changes nothing.
 * @param present the view. Writes that name a whole log look at its messages, an append only asks whether an id is there.
 */
export function draftOf(
  found: SessionOnDisk,
  intent: Intent,
  beside: DraftBeside,
  present: Present,
): Draft | undefined {
  const { view } = found.row;
  const common = { state: beside.state, metadata: metadataOf(found, beside) };
  const log = layeredLog(found.row.head, found.ops);
  switch (intent.kind) {
    case "append": {
      if (intent.on !== undefined) mustStand(intent.on, view.head);
      checkIds(intent.messages, present);
      const messages = intent.messages.map(serializeMessage);
      return {
        kind: "append",
        messages,
        expected: intent.conflict === "reject" ? view.head : null,
        ...common,
      };
    }
    case "checkpoint": {
      if (!headEquals(intent.on, view.head)) throw new ViewMovedError();
      if (intent.messages.length === 0 && common.state === undefined && common.metadata === undefined)
        return undefined;
      checkIds(intent.messages, present);
      const messages = intent.messages.map(serializeMessage);
      const { keep, keepLastId, carried } = log;
      return { kind: "checkpoint", expected: view.head, keep, keepLastId, carried, messages, ...common };
    }
    case "replace": {
      if (intent.expected !== undefined) mustStand(intent.expected, view.head);
      checkIds(intent.messages, undefined);
      const kept = keptPrefix(intent.messages, present.messages, log.keep.count);
      const keep = { generation: log.keep.generation, count: kept };
      const keepLastId = intent.messages[kept - 1]?.id ?? null;
      const messages = intent.messages.slice(kept).map(serializeMessage);
      return {
        kind: "replace",
        expected: intent.expected === undefined ? null : view.head,
        keep,
        keepLastId,
        messages,
        held: heldIds(messages, present),
        ...common,
      };
    }
    case "restore": {
      const keep = { generation: intent.generation, count: intent.count };
      return { kind: "replace", expected: null, keep, keepLastId: intent.lastId, messages: [], ...common };
    }
  }
}

function metadataOf(found: SessionOnDisk, { metadata, firstMetadata }: DraftBeside): PendingOp["metadata"] {
  const { view, incarnation } = found.row;
  const fresh = incarnation === null && (found.ops.length === 0 || view.deleted);
  const to = metadata ?? (fresh ? firstMetadata : undefined);
  const changes = to === undefined ? [] : diffMetadata(view.metadata, to);
  return changes.length === 0 ? undefined : changes;
}

function mustStand(expected: Revision, actual: Head): void {
  if (!revisionEquals(expected, actual)) throw new ConflictError(undefined, { expected, actual });
}

function checkIds(messages: readonly Message[], present: Present | undefined): void {
  const ids = new Set<string>();
  for (const [index, { id }] of messages.entries()) {
    const path = `messages[${index}].id`;
    if (ids.has(id) || present?.has(id) === true) throw invalidInput(path, "is already in the log");
    ids.add(id);
  }
}

function heldIds(messages: readonly JsonObject[], present: Present): readonly string[] {
  return messages.map(({ id }) => String(id)).filter((id) => present.has(id));
}

function keptPrefix(messages: readonly Message[], present: readonly Message[], most: number): number {
  let kept = 0;
  while (kept < most && kept < messages.length && sameMessage(messages[kept], present[kept])) kept += 1;
  return kept;
}

function sameMessage(a: Message | undefined, b: Message | undefined): boolean {
  return a !== undefined && b !== undefined && messageEquals(a, b);
}
