import { cloneJson, freezeJson, type JsonObject, jsonEquals } from "../model/json.ts";
import { type Message, serializeMessage } from "../model/message.ts";
import type { Damage, Snapshot } from "../model/snapshot.ts";
import type { Reader } from "./database.ts";
import { KnownOutboxes } from "./known-outboxes.ts";
import { readMessages } from "./log-rows.ts";
import { type Layered, layeredLog } from "./outbox.ts";
import type { SessionOnDisk } from "./session-rows.ts";
import { parseLog, type StoredLog } from "./stored-log.ts";
import type { SessionView, SyncRows } from "./sync-rows.ts";

/** Only ever added to: whoever read it before still sees what it saw. */
interface Held {
  readonly life: string;
  readonly generation: number;
  readonly messages: Message[];
  readonly places: Map<string, number>;
  readonly damaged: Damage[];
}

/** How many sessions' messages stay parsed in memory, and how many messages of ops. */
const MAX_SESSIONS = 16;
const MAX_NOTED = 1_000;

/**
 * Parsed messages of the sessions lately read whole, so that reading again costs what was added and not the history,
 * and a checkpoint of what was handed out compares by identity.
 */
export class ViewCache {
  readonly outboxes = new KnownOutboxes();
  readonly #held = new Map<string, Held>();
  /** Messages of ops by id: they stay the same objects when they become confirmed. */
  readonly #noted = new Map<string, Message>();
  /** By the stored message itself, which never changes: ops are looked at again with every write behind them. */
  readonly #parsed = new WeakMap<JsonObject, Message>();

  /** Remembers a message that was just written, so that reading it back gives the same object. */
  note(message: Message): void {
    this.#noted.set(message.id, message);
    trim(this.#noted, MAX_NOTED);
  }

  /** All messages of the view, as this transaction sees it: reads what was not read before. */
  async read(tx: Reader<SyncRows>, found: SessionOnDisk): Promise<ViewLog> {
    const log = layeredLog(found.row.head, found.ops);
    return this.#viewOf(await this.#confirmed(tx, found, log), log);
  }

  /** What is known of the view without reading: only the messages of ops, where the log was never read whole. */
  async peek(tx: Reader<SyncRows>, found: SessionOnDisk): Promise<ViewLog> {
    const log = layeredLog(found.row.head, found.ops);
    return this.#viewOf((await this.#stillTrue(tx, found, log)) ?? emptyHeld("", log.keep.generation), log);
  }

  /** What was read was of a database that is gone. */
  clear(): void {
    this.#held.clear();
    this.outboxes.clear();
  }

  #viewOf(held: Held, log: Layered): ViewLog {
    const kept = Math.min(held.messages.length, log.keep.count);
    return new ViewLog({
      held,
      kept,
      carried: log.carried,
      parse: () => this.#parse(log.carried, log.keep.count),
    });
  }

  async #confirmed(tx: Reader<SyncRows>, found: SessionOnDisk, log: Layered): Promise<Held> {
    const { generation, count } = log.keep;
    const { id, incarnation } = found.row;
    const life = incarnation ?? "";
    const known = await this.#stillTrue(tx, found, log);
    const held = known === undefined ? emptyHeld(life, generation) : { ...known, life };
    const from = held.messages.length;
    if (from < count) {
      const read = await readMessages(tx, id, { generation, from, to: count });
      // Another transaction may have read the same meanwhile.
      const there = held.messages.length;
      const added = this.#parse(read.slice(there - from), there);
      for (const message of added.messages) held.places.set(message.id, held.messages.push(message) - 1);
      held.damaged.push(...added.damaged);
    }
    this.#held.delete(id);
    this.#held.set(id, held);
    trim(this.#held, MAX_SESSIONS);
    return held;
  }

  /** What is held of the session, unless it is of another generation or life, or was cut since. */
  async #stillTrue(tx: Reader<SyncRows>, { row }: SessionOnDisk, log: Layered): Promise<Held | undefined> {
    const { generation, count } = log.keep;
    const held = this.#held.get(row.id);
    const life = row.incarnation ?? "";
    if (held === undefined || held.generation !== generation || (held.life !== life && held.life !== ""))
      return undefined;
    const end = Math.min(held.messages.length, count);
    if (end === 0) return held;
    // What was damaged may have been fetched again.
    if (held.damaged.length > 0) return undefined;
    const stored =
      end === count
        ? log.keepLastId
        : (await readMessages(tx, row.id, { generation, from: end - 1, to: end }))[0]?.id;
    return held.messages[end - 1]?.id === stored ? held : undefined;
  }

  #notedAs(json: JsonObject): Message | undefined {
    const noted = typeof json.id === "string" ? this.#noted.get(json.id) : undefined;
    return noted !== undefined && jsonEquals(serializeMessage(noted), json) ? noted : undefined;
  }

  #parse(stored: readonly (JsonObject | undefined)[], from: number): StoredLog {
    const messages: Message[] = [];
    const damaged: Damage[] = [];
    for (const [offset, json] of stored.entries()) {
      const before = damaged.length;
      const known = json === undefined ? undefined : (this.#parsed.get(json) ?? this.#notedAs(json));
      if (known !== undefined) messages.push(known);
      else {
        const read = parseLog([json], from + offset);
        for (const message of read.messages) messages.push(message);
        damaged.push(...read.damaged);
      }
      const last = messages.at(-1);
      const sound = damaged.length === before;
      if (json !== undefined && last !== undefined && sound) this.#parsed.set(json, last);
    }
    return { messages, damaged };
  }
}

interface ViewLogParts {
  readonly held: Held;
  readonly kept: number;
  readonly carried: readonly JsonObject[];
  readonly parse: () => StoredLog;
}

/** The messages of one view. What nobody asks for is neither parsed nor listed. */
export class ViewLog {
  readonly #parts: ViewLogParts;
  #carried: StoredLog | undefined;
  #messages: readonly Message[] | undefined;

  constructor(parts: ViewLogParts) {
    this.#parts = parts;
  }

  get messages(): readonly Message[] {
    const { held, kept } = this.#parts;
    this.#messages ??= Object.freeze(held.messages.slice(0, kept).concat(this.#parsed.messages));
    return this.#messages;
  }

  get damaged(): readonly Damage[] {
    const { held, kept } = this.#parts;
    return held.damaged.filter(({ index }) => index < kept).concat(this.#parsed.damaged);
  }

  /** Whether confirmed messages are missing or cannot be read. */
  get hurt(): boolean {
    const { held, kept } = this.#parts;
    return held.damaged.some(({ index }) => index < kept);
  }

  has(id: string): boolean {
    const { held, kept, carried } = this.#parts;
    const place = held.places.get(id);
    return (place !== undefined && place < kept) || carried.some((message) => message.id === id);
  }

  get #parsed(): StoredLog {
    this.#carried ??= this.#parts.parse();
    return this.#carried;
  }
}

/** A view as it is handed out: frozen, its messages listed when they are asked for. */
export function snapshotOf(view: SessionView, state: JsonObject, log: ViewLog): Snapshot {
  const { generation, count } = view.head;
  const { damaged } = log;
  return Object.freeze({
    get messages() {
      return log.messages;
    },
    state,
    metadata: freezeJson(cloneJson(view.metadata)),
    revision: Object.freeze({ generation, count }),
    ...(damaged.length > 0 ? { damaged } : {}),
  });
}

function emptyHeld(life: string, generation: number): Held {
  return { life, generation, messages: [], places: new Map(), damaged: [] };
}

function trim<V>(map: Map<string, V>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
