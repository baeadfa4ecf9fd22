import { type JsonObject, jsonEquals } from "../model/json.ts";
import { type Message, serializeMessage } from "../model/message.ts";
import type { Damage } from "../model/snapshot.ts";
import type { Reader } from "./database.ts";
import { readMessages } from "./log-rows.ts";
import { type Layered, layeredLog } from "./outbox.ts";
import type { SessionOnDisk } from "./session-rows.ts";
import { parseLog, type StoredLog } from "./stored-log.ts";
import type { SyncRows } from "./sync-rows.ts";

interface Held extends StoredLog {
  readonly life: string;
  readonly generation: number;
}

/** How many sessions' messages stay parsed in memory, and how many messages of ops. */
const MAX_SESSIONS = 16;
const MAX_NOTED = 1_000;

/**
 * Parsed messages of the sessions lately read whole, so that reading again costs what was added and not the history,
 * and a checkpoint of what was handed out compares by identity.
 */
export class ViewCache {
  readonly #held = new Map<string, Held>();
  /** Messages of ops by id: they stay the same objects when they become confirmed. */
  readonly #noted = new Map<string, Message>();

  /** Remembers a message that was just written, so that reading it back gives the same object. */
  note(message: Message): void {
    this.#noted.set(message.id, message);
    trim(this.#noted, MAX_NOTED);
  }

  /** All messages of the view, as this transaction sees it. */
  async read(tx: Reader<SyncRows>, found: SessionOnDisk): Promise<StoredLog> {
    const log = layeredLog(found.row.head, found.ops);
    const held = await this.#confirmed(tx, found, log);
    const carried = this.#parse(log.carried, log.keep.count);
    const kept =
      held.messages.length === log.keep.count ? held.messages : held.messages.slice(0, log.keep.count);
    return {
      messages: Object.freeze(kept.concat(carried.messages)),
      damaged: [...held.damaged.filter(({ index }) => index < log.keep.count), ...carried.damaged],
    };
  }

  forget(session: string): void {
    this.#held.delete(session);
  }

  async #confirmed(tx: Reader<SyncRows>, { row }: SessionOnDisk, log: Layered): Promise<Held> {
    const { generation, count } = log.keep;
    const life = row.incarnation ?? "";
    let held = await this.#stillTrue(tx, row.id, life, log);
    held ??= { life, generation, messages: [], damaged: [] };
    const from = held.messages.length;
    if (from < count) {
      const added = this.#parse(await readMessages(tx, row.id, { generation, from, to: count }), from);
      const messages = held.messages.concat(added.messages);
      held = { life, generation, messages, damaged: [...held.damaged, ...added.damaged] };
    }
    this.#held.delete(row.id);
    this.#held.set(row.id, { ...held, life });
    trim(this.#held, MAX_SESSIONS);
    return held;
  }

  /** What is held of the session, unless it is of another generation or life, or was cut since. */
  async #stillTrue(
    tx: Reader<SyncRows>,
    session: string,
    life: string,
    log: Layered,
  ): Promise<Held | undefined> {
    const { generation, count } = log.keep;
    const held = this.#held.get(session);
    if (held === undefined || held.generation !== generation || (held.life !== life && held.life !== ""))
      return undefined;
    const end = Math.min(held.messages.length, count);
    if (end === 0 || held.damaged.some(({ index }) => index === end - 1)) return end === 0 ? held : undefined;
    const stored =
      end === count
        ? log.keepLastId
        : (await readMessages(tx, session, { generation, from: end - 1, to: end }))[0]?.id;
    return held.messages[end - 1]?.id === stored ? held : undefined;
  }

  #parse(stored: readonly (JsonObject | undefined)[], from: number): StoredLog {
    const messages: Message[] = [];
    const damaged: Damage[] = [];
    for (const [offset, json] of stored.entries()) {
      const noted = typeof json?.id === "string" ? this.#noted.get(json.id) : undefined;
      if (noted !== undefined && jsonEquals(serializeMessage(noted), json)) messages.push(noted);
      else {
        const read = parseLog([json], from + offset);
        for (const message of read.messages) messages.push(message);
        damaged.push(...read.damaged);
      }
    }
    return { messages, damaged };
  }
}

function trim<V>(map: Map<string, V>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
