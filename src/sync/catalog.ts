import { InvalidInputError } from "../model/errors.ts";
import { checkId } from "../model/ids.ts";
import { freezeJson, type JsonObject } from "../model/json.ts";
import type { Revision } from "../model/revision.ts";
import type { LocalDatabase } from "../store/database.ts";
import { readListener } from "../store/listeners.ts";
import { furtherRead } from "../store/outbox.ts";
import type { SessionRow, SyncRows } from "../store/sync-rows.ts";
import type { SyncedStore } from "./synced-store.ts";

/** One conversation in a list. */
export interface SessionEntry {
  readonly id: string;
  /** `metadata.title`, where that is a text. */
  readonly title?: string | undefined;
  /** The beginning of the last message's text. */
  readonly preview: string;
  /** Messages in the view; for a session not fetched yet, what the relay has. */
  readonly count: number;
  /** Messages behind the last one marked as read. */
  readonly unread: number;
  /** Ops of this session that the relay has not acknowledged. */
  readonly pending: number;
  /** ISO time of the last change. */
  readonly updatedAt: string;
  readonly archived: boolean;
  readonly metadata: Readonly<JsonObject>;
}

/** The most entries one page or search gives. */
export const MAX_ENTRIES = 200;
const DEFAULT_ENTRIES = 50;

/** The actor's conversations on this device, live. Every change is an op: it works offline and reaches every device. */
export class Catalog {
  readonly #db: LocalDatabase<SyncRows>;
  readonly #store: SyncedStore;
  readonly #newId: () => string;

  constructor(db: LocalDatabase<SyncRows>, store: SyncedStore, newId: () => string) {
    this.#db = db;
    this.#store = store;
    this.#newId = newId;
  }

  /** Newest first, 50 a page unless told otherwise, 200 at most. `next` goes into `before` for the page after it. */
  async list(
    page: { readonly limit?: number | undefined; readonly before?: string | undefined } = {},
  ): Promise<{ readonly entries: readonly SessionEntry[]; readonly next?: string }> {
    if (typeof page !== "object" || page === null)
      throw new InvalidInputError("page must be an object", { path: "page" });
    const limit = Math.min(MAX_ENTRIES, wholeFrom1(page.limit ?? DEFAULT_ENTRIES));
    const rows = await this.#collect(limit + 1, page.before, () => true);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const entries = Object.freeze(shown.map(entryOf));
    return rows.length > limit && last !== undefined ? { entries, next: placeOf(last) } : { entries };
  }

  /** Conversations whose title or last message's beginning contains the text, ignoring case; newest first, 200 at most. */
  async search(text: string): Promise<readonly SessionEntry[]> {
    if (typeof text !== "string") throw new InvalidInputError("text must be a text", { path: "text" });
    const wanted = text.trim().toLocaleLowerCase();
    const rows = await this.#collect(MAX_ENTRIES, undefined, ({ view }) =>
      `${String(view.metadata.title ?? "")}\n${view.preview}`.toLocaleLowerCase().includes(wanted),
    );
    return Object.freeze(rows.map(entryOf));
  }

  /** Told after each change of any entry. */
  subscribe(listener: () => void): () => void {
    const told = readListener(listener);
    return this.#db.watch(({ tables }) => {
      if (tables.has("sessions")) told();
    });
  }

  /** Makes an empty conversation and tells its id. One that is there already stays as it is. */
  async create(id: string = this.#newId()): Promise<string> {
    checkId(id, "id");
    await this.#store.put(id, async ({ row, ops }) => {
      const there = (row.incarnation !== null || ops.length > 0) && !row.view.deleted;
      return there ? undefined : { kind: "edit" };
    });
    return id;
  }

  async rename(id: string, title: string): Promise<void> {
    if (typeof title !== "string") throw new InvalidInputError("title must be a text", { path: "title" });
    await this.#edit(id, () => ({ metadata: [{ at: "/title", value: title }] }));
  }

  async archive(id: string, on = true): Promise<void> {
    if (typeof on !== "boolean") throw new InvalidInputError("on must be true or false", { path: "on" });
    await this.#edit(id, ({ view }) => (view.archived === on ? undefined : { archived: on }));
  }

  /** Gone here at once and on every device once the relay knows; it does not come back from one that was offline. */
  async delete(id: string): Promise<void> {
    checkId(id, "id");
    await this.#store.put(id, async ({ row, ops }) => {
      const there = (row.incarnation !== null || ops.length > 0) && !row.view.deleted;
      return there ? { kind: "delete" } : undefined;
    });
  }

  /** The first `count` messages have been read. Only ever moves forward. */
  async markRead(id: string, count: number): Promise<void> {
    if (!Number.isInteger(count) || count < 0) {
      throw new InvalidInputError("count must be a whole number from 0", { path: "count" });
    }
    await this.#edit(id, ({ view }) => {
      const read: Revision = { generation: view.head.generation, count: Math.min(count, view.head.count) };
      return furtherRead(view.read, read) === read ? { read } : undefined;
    });
  }

  async #edit(
    id: string,
    change: (
      row: SessionRow,
    ) => { metadata?: { at: string; value: string }[]; archived?: boolean; read?: Revision } | undefined,
  ): Promise<void> {
    checkId(id, "id");
    await this.#store.put(id, async ({ row, ops }) => {
      if ((row.incarnation === null && ops.length === 0) || row.view.deleted) {
        throw new InvalidInputError(`There is no session ${JSON.stringify(id)}`, { path: "id" });
      }
      const changed = change(row);
      return changed === undefined ? undefined : { kind: "edit", ...changed };
    });
  }

  /** Rows newest first from a place on, as many as asked, leaving out what does not exist for this device. */
  #collect(
    most: number,
    before: string | undefined,
    fits: (row: SessionRow) => boolean,
  ): Promise<SessionRow[]> {
    return this.#db.read(["sessions"], async (tx) => {
      const found: SessionRow[] = [];
      let to = before === undefined ? undefined : placeFrom(before);
      for (;;) {
        const rows = await tx.list("sessions", {
          by: "recent",
          reverse: true,
          limit: MAX_ENTRIES,
          ...(to === undefined ? {} : { to }),
        });
        for (const row of rows) {
          const exists = !row.view.deleted && (row.incarnation !== null || row.view.pending > 0);
          if (exists && fits(row)) found.push(row);
          if (found.length === most) return found;
        }
        const last = rows.at(-1);
        if (rows.length < MAX_ENTRIES || last === undefined) return found;
        to = [last.updatedAt, last.id];
      }
    });
  }
}

function entryOf(row: SessionRow): SessionEntry {
  const { view, remote, head } = row;
  const fetched =
    head.generation === remote.head.generation ? Math.max(0, remote.head.count - head.count) : 0;
  const count = view.head.count + fetched;
  const read = view.read.generation === view.head.generation ? view.read.count : 0;
  const { title } = view.metadata;
  return Object.freeze({
    id: row.id,
    ...(typeof title === "string" ? { title } : {}),
    preview: view.preview,
    count,
    unread: Math.max(0, count - read),
    pending: view.pending,
    updatedAt: row.updatedAt,
    archived: view.archived,
    metadata: freezeJson(view.metadata),
  });
}

function placeOf(row: SessionRow): string {
  return JSON.stringify([row.updatedAt, row.id]);
}

function placeFrom(before: string): [string, string] {
  try {
    const place: unknown = JSON.parse(before);
    if (Array.isArray(place) && typeof place[0] === "string" && typeof place[1] === "string")
      return [place[0], place[1]];
  } catch {
    // Told below, in the words of this call.
  }
  throw new InvalidInputError("before must be the next of an earlier page", { path: "before" });
}

function wholeFrom1(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidInputError("limit must be a whole number from 1", { path: "limit" });
}
