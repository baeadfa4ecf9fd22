import { HoldfastError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { createMessage, type Message, parseMessage } from "../model/message.ts";
import type { Damage } from "../model/snapshot.ts";

/** Messages read back from rows, one a position, and which of them only hold the place of one that is damaged. */
export interface StoredLog {
  readonly messages: readonly Message[];
  readonly damaged: readonly Damage[];
}

/**
 * Parses serialised messages, the first of them at position `from`. What cannot be read does not keep the rest from
 * being read: its place is held by an empty developer message, so that positions and count stay (T7).
 */
export function parseLog(stored: readonly (JsonObject | undefined)[], from: number): StoredLog {
  const messages: Message[] = [];
  const damaged: Damage[] = [];
  for (const [offset, json] of stored.entries()) {
    const index = from + offset;
    try {
      messages.push(json === undefined ? placeholder(index) : parseMessage(json));
      if (json === undefined) damaged.push({ index, reason: "The row is missing or half-written" });
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      messages.push(placeholder(index));
      damaged.push({ index, reason: error.message });
    }
  }
  return { messages, damaged };
}

function placeholder(index: number): Message {
  return createMessage({
    id: `damaged-${index}`,
    role: "developer",
    metadata: { holdfastDamaged: true },
    createdAt: "1970-01-01T00:00:00.000Z",
  });
}
