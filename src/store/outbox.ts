import { type JsonObject, jsonEquals } from "../model/json.ts";
import {
  EMPTY_HEAD,
  EMPTY_REVISION,
  type Head,
  headEquals,
  type Revision,
  revisionEquals,
} from "../model/revision.ts";
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

const NOTHING: Confirmed = {
  head: EMPTY_HEAD,
  metadata: {},
  archived: false,
  read: EMPTY_REVISION,
  preview: "",
};

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
  let keep: Kept = { generation: head.generation, count: head.count };
  let keepLastId = head.lastId;
  const pieces: (readonly JsonObject[])[] = [];
  for (const op of ops) {
    if (op.kind === "delete") {
      [keep, keepLastId] = [EMPTY_REVISION, null];
      pieces.length = 0;
      continue;
    }
    if (op.kind === "replace" && op.landed === undefined) {
      ({ keep, keepLastId } = op);
      pieces.length = 0;
    }
    pieces.push(messagesOf(op));
  }
  return { keep, keepLastId, carried: pieces.flat() };
}

/** Everything about the view but its messages. `previewOf` reads a serialised message's text. */
export function viewOf(
  confirmed: Confirmed,
  ops: readonly PendingOp[],
  previewOf: (message: JsonObject) => string,
): SessionView {
  return ops.reduce((view, op) => viewAfter(view, op, previewOf), viewWithout(confirmed));
}

/** The view where nothing waits. */
export function viewWithout({ head, metadata, archived, read, preview }: Confirmed): SessionView {
  return { head, metadata, archived, read, preview, pending: 0, deleted: false };
}

/** The view once `op` stands behind all others. */
export function viewAfter(
  view: SessionView,
  op: PendingOp,
  previewOf: (message: JsonObject) => string,
): SessionView {
  const head = headAfter(view.head, op);
  const pending = view.pending + 1;
  if (op.kind === "delete") return { ...viewWithout(NOTHING), head, pending, deleted: true };
  const metadata = op.metadata === undefined ? view.metadata : applyMetadata(view.metadata, op.metadata);
  const last = messagesOf(op).at(-1);
  const emptied = op.kind === "replace" && op.keep.count === 0;
  const preview = last === undefined ? (emptied ? "" : view.preview) : previewOf(last);
  const edit = op.kind === "edit" ? op : undefined;
  const archived = edit?.archived ?? view.archived;
  const read = edit?.read === undefined ? view.read : furtherRead(view.read, edit.read);
  return { head, metadata, archived, read, preview, pending, deleted: false };
}

/**
 * The view once its first op is confirmed, without a look at the others; undefined when what became of the op is not
 * what it was expected to become.
 */
export function viewWhenConfirmed(
  view: SessionView,
  first: PendingOp,
  rows: { readonly before: Confirmed; readonly after: Confirmed },
  previewOf: (message: JsonObject) => string,
): SessionView | undefined {
  const expected = viewAfter(viewWithout(rows.before), first, previewOf);
  const { after } = rows;
  const same =
    headEquals(expected.head, after.head) &&
    revisionEquals(expected.read, after.read) &&
    expected.archived === after.archived &&
    expected.preview === after.preview &&
    jsonEquals(expected.metadata, after.metadata);
  return same && first.kind !== "delete" ? { ...view, pending: view.pending - 1 } : undefined;
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
