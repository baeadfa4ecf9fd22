import type { Message } from "../model/message.ts";
import type { Damage, Revision } from "../model/snapshot.ts";
import type { Reader } from "./database.ts";
import { type LogTables, readMessages } from "./log-rows.ts";
import { parseLog } from "./stored-log.ts";

/** One generation's log, parsed, as far as it was read. */
export interface CachedLog {
  readonly generation: number;
  readonly messages: readonly Message[];
  readonly damaged: readonly Damage[];
  readonly ids: Set<string>;
}

/** How many sessions' logs stay parsed. */
const MAX_SESSIONS = 16;

/**
 * Parsed logs of the sessions last used. A generation only ever grows, so what was read of it stays true, and reading
 * again costs what was added.
 */
export class LogCache {
  readonly #logs = new Map<string, CachedLog>();

  /** The log at a revision, read on from where it was read before. */
  async read(tx: Reader<LogTables>, session: string, { generation, count }: Revision): Promise<CachedLog> {
    const held = this.#logs.get(session);
    const usable = held?.generation === generation && held.messages.length <= count;
    const log = usable ? held : { generation, messages: [], damaged: [], ids: new Set<string>() };
    const from = log.messages.length;
    if (from === count) return this.#keep(session, log);
    const stored = await readMessages(tx, session, { generation, from, to: count });
    const { messages, damaged } = parseLog(stored, from);
    return this.#keep(session, grown(log, messages, damaged));
  }

  /** Notes messages that were committed behind `count`: the same objects are handed out from then on. */
  add(session: string, { generation, count }: Revision, messages: readonly Message[]): CachedLog {
    const held = this.#logs.get(session);
    if (held?.generation === generation && held.messages.length > count) return held;
    const whole = held?.generation === generation && held.messages.length === count;
    const log = whole ? held : { generation, messages: [], damaged: [], ids: new Set<string>() };
    // A log that is not held from its beginning is read from the rows the next time.
    if (log.messages.length !== count) return log;
    return this.#keep(session, grown(log, messages, []));
  }

  #keep(session: string, log: CachedLog): CachedLog {
    this.#logs.delete(session);
    this.#logs.set(session, log);
    for (const oldest of this.#logs.keys()) {
      if (this.#logs.size <= MAX_SESSIONS) break;
      this.#logs.delete(oldest);
    }
    return log;
  }
}

function grown(log: CachedLog, messages: readonly Message[], damaged: readonly Damage[]): CachedLog {
  for (const { id } of messages) log.ids.add(id);
  return {
    generation: log.generation,
    messages: Object.freeze(log.messages.concat(messages)),
    damaged: damaged.length === 0 ? log.damaged : [...log.damaged, ...damaged],
    ids: log.ids,
  };
}
