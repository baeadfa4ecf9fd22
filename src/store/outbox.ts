import type { JsonObject } from "../model/json.ts";
import { EMPTY_HEAD, EMPTY_REVISION, type Head, type Revision } from "../model/revision.ts";
import { applyMetadata } from "../wire/metadata.ts";
import type { Kept } from "../wire/shapes.ts";
import type { PendingOp, SessionRow, SessionView } from "./sync-rows.ts";

/** A log as the view has it: the first messages of a confirmed generation, and then messages held in memory. */
export interface Layered {
  readonly keep: Kept;
  readonly keepLastId: string | null;
  readonly carried: readonly JsonObject[];
}

/** What the session rests on, as far as the outbox is concerned. */
export type Confirmed = Pick<SessionRow, "head" | "metadata" | "archived" | "read" | "preview">;

/** The messages of an op that do not stand in the confirmed log yet. */
export function messagesOf(op: PendingOp): readonly JsonObject[] {
  if (op.kind !== "append" && op.kind !== "checkpoint" && op.kind !== "replace") return [];
  return op.landed === undefined ? op.messages : op.messages.slice(op.landed);
}

/** The messages that would be nowhere if the op did not exist: without those it took over from the view. */
export function broughtBy(op: PendingOp): readonly JsonObject[] {
  const messages = messagesOf(op);
  if (op.kind !== "replace" || op.held === undefined) return messages;
  const held = new Set<JsonObject[string] | undefined>(op.held);
  return messages.filter(({ id }) => !held.has(id));
}

/** The head that stands once `op` is accepted on `head`. */
export function headAfter(head: Head, op: PendingOp): Head {
  switch (op.kind) {
    case "append":
    case "checkpoint":
    case "replace": {
      // A replace that has begun to land stands in the confirmed log: what is left of it follows there.
      if (op.kind === "replace" && op.landed === undefined) return headOfReplace(head, op);
      const messages = messagesOf(op);
      return {
        generation: head.generation,
        count: head.count + messages.length,
        lastId: lastIdOf(messages) ?? head.lastId,
      };
    }
    case "edit":
      return head;
    case "delete":
      return EMPTY_HEAD;
  }
}

/** The log that is seen: confirmed, and the ops over it, in order. */
export function layeredLog(head: Head, ops: readonly PendingOp[]): Layered {
  let log: Layered = {
    keep: { generation: head.generation, count: head.count },
    keepLastId: head.lastId,
    carried: [],
  };
  for (const op of ops) {
    if (op.kind === "replace" && op.landed === undefined) {
      log = { keep: op.keep, keepLastId: op.keepLastId, carried: op.messages };
    } else if (op.kind === "delete") {
      log = { keep: EMPTY_REVISION, keepLastId: null, carried: [] };
    } else {
      const messages = messagesOf(op);
      if (messages.length > 0) log = { ...log, carried: [...log.carried, ...messages] };
    }
  }
  return log;
}

/** Everything about the view but its messages. `previewOf` reads a serialised message's text. */
export function viewOf(
  confirmed: Confirmed,
  ops: readonly PendingOp[],
  previewOf: (message: JsonObject) => string,
): SessionView {
  let { head, metadata, archived } = confirmed;
  /** The last message over what is confirmed; null when an op leaves none. */
  let newest: JsonObject | null | undefined;
  let read: Revision = confirmed.read;
  let deleted = false;
  for (const op of ops) {
    head = headAfter(head, op);
    if (op.metadata !== undefined) metadata = applyMetadata(metadata, op.metadata);
    const last = messagesOf(op).at(-1);
    if (last !== undefined) newest = last;
    else if (op.kind === "replace" && op.keep.count === 0) newest = null;
    if (op.kind === "edit") {
      archived = op.archived ?? archived;
      if (op.read !== undefined) read = furtherRead(read, op.read);
    }
    if (op.kind === "delete") [metadata, archived, read, newest] = [{}, false, EMPTY_REVISION, null];
    deleted = op.kind === "delete";
  }
  let { preview } = confirmed;
  if (newest !== undefined) preview = newest === null ? "" : previewOf(newest);
  return { head, metadata, archived, read, preview, pending: ops.length, deleted };
}

/** Reading only moves forward; a later generation is further (rule P27). */
export function furtherRead(a: Revision, b: Revision): Revision {
  return b.generation > a.generation || (b.generation === a.generation && b.count > a.count) ? b : a;
}

/**
 * What a checkpoint becomes when its stored messages are no longer the whole log: a replace that names whatever
 * head it has seen, with the content the checkpoint had.
 */
export function diverged(op: Extract<PendingOp, { kind: "checkpoint" }>, opId: string): PendingOp {
  const { expected: _, carried, kind: __, landed: ___, ...rest } = op;
  return {
    ...rest,
    kind: "replace",
    opId,
    expected: null,
    messages: [...carried, ...op.messages],
    held: carried.map(({ id }) => String(id)),
  };
}

function headOfReplace(head: Head, op: Extract<PendingOp, { kind: "replace" }>): Head {
  return {
    generation: head.generation + 1,
    count: op.keep.count + op.messages.length,
    lastId: lastIdOf(op.messages) ?? op.keepLastId,
  };
}

function lastIdOf(messages: readonly JsonObject[]): string | undefined {
  const id = messages.at(-1)?.id;
  return typeof id === "string" ? id : undefined;
}
