import type { JsonObject } from "../../src/model/json.ts";
import type { Head } from "../../src/model/revision.ts";
import type { Writer } from "../../src/store/database.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import { newOutcome, type Outcome, type Surroundings } from "../../src/store/outcome.ts";
import { findSession, SESSION_TABLES, type SessionOnDisk } from "../../src/store/session-rows.ts";
import { SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import { readWindow } from "../../src/store/view-window.ts";
import type { CatalogEntry } from "../../src/wire/catalog.ts";
import type { Ack, Page } from "../../src/wire/log.ts";
import type { WireMessage } from "../../src/wire/shapes.ts";

export const AT = "2025-01-01T00:00:00.000Z";
export const LIFE = "life";

/** A device's database, and what happens to it one transaction at a time. */
export class Disk {
  readonly db = new MemoryDatabase<SyncRows>(SYNC_SCHEMA);
  #ids = 0;

  readonly around: Surroundings = { at: AT, newId: () => `made-${++this.#ids}` };

  async change(work: (tx: Writer<SyncRows>, outcome: Outcome) => Promise<unknown>): Promise<Outcome> {
    const outcome = newOutcome();
    await this.db.write(SESSION_TABLES, (tx) => work(tx, outcome));
    return outcome;
  }

  async session(): Promise<SessionOnDisk> {
    const found = await this.db.read(["sessions", "outbox"], (tx) => findSession(tx, "s"));
    if (found === undefined) throw new Error("There is no session");
    return found;
  }

  /** What is seen: each message's id with how it stands. */
  async seen(count = 1_000): Promise<string[]> {
    const { entries } = await this.db.read(["sessions", "outbox", "runs", "rejected"], (tx) =>
      readWindow(tx, "s", count),
    );
    return entries.map(({ message, delivery }) => `${message.id} ${delivery}`);
  }
}

export function wireMessage(id: string): WireMessage & JsonObject {
  return {
    id,
    role: "user",
    content: [{ type: "text", text: `text of ${id}` }],
    metadata: {},
    createdAt: AT,
  };
}

export function headOf(ids: readonly string[], generation = 0): Head {
  return { generation, count: ids.length, lastId: ids.at(-1) ?? null };
}

export function entryOf(fields: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    session: "s",
    incarnation: LIFE,
    deleted: false,
    head: headOf([]),
    stateCursor: 0,
    metadata: {},
    archived: false,
    read: { generation: 0, count: 0 },
    updatedAt: AT,
    seq: 1,
    ...fields,
  };
}

export function pageOf(ids: readonly string[], fields: Partial<Page> = {}): Page {
  return {
    type: "page",
    id: "p",
    session: "s",
    incarnation: LIFE,
    generation: 0,
    start: 0,
    messages: ids.map((id) => ({ opId: `op of ${id}`, message: wireMessage(id) })),
    head: headOf(ids),
    more: false,
    state: [],
    stateCursor: 0,
    ...fields,
  };
}

export function ackOf(opId: string, head: Head, fields: Partial<Ack> = {}): Ack {
  return {
    type: "ack",
    opId,
    session: "s",
    incarnation: LIFE,
    outcome: "applied",
    head,
    added: 1,
    seq: 2,
    stateCursor: 0,
    ...fields,
  };
}
