import type { Head } from "../../src/model/revision.ts";
import type { Append, Delete, Edit, Pull, Replace } from "../../src/wire/asks.ts";
import type { WireMessage } from "../../src/wire/shapes.ts";

export const EMPTY: Head = { generation: 0, count: 0, lastId: null };

export function message(id: string, text = `text of ${id}`): WireMessage {
  return {
    id,
    role: "user",
    content: [{ type: "text", text }],
    metadata: {},
    createdAt: "2025-01-01T00:00:00.000Z",
  };
}

export function messages(...ids: string[]): WireMessage[] {
  return ids.map((id) => message(id));
}

/** An append of messages with these ids; the op is named for them. */
export function append(session: string, ids: readonly string[], more: Partial<Append> = {}): Append {
  return {
    type: "append",
    opId: `op-${ids.join("-")}`,
    session,
    incarnation: null,
    base: EMPTY,
    messages: messages(...ids),
    ...more,
  };
}

export function replace(session: string, ids: readonly string[], more: Partial<Replace> = {}): Replace {
  return {
    type: "replace",
    opId: `replace-${ids.join("-")}`,
    session,
    incarnation: null,
    base: EMPTY,
    keep: { generation: 0, count: 0 },
    messages: messages(...ids),
    ...more,
  };
}

export function edit(session: string, opId: string, more: Partial<Edit> = {}): Edit {
  return { type: "edit", opId, session, incarnation: null, ...more };
}

export function remove(session: string, opId: string, incarnation: string | null = null): Delete {
  return { type: "delete", opId, session, incarnation };
}

let pulls = 0;
export function pull(session: string, incarnation: string | null, more: Partial<Pull> = {}): Pull {
  pulls += 1;
  return { type: "pull", id: `pull-${pulls}`, session, incarnation, have: null, stateCursor: 0, ...more };
}
