import { createDecoder, hasContent, readVarUint, readVarUint8Array } from "lib0/decoding";
import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import { CHANNEL_MESSAGE } from "../../src/wire/channel.ts";

/** What a participant says on a channel (rule P51). */
export type ChannelMessage =
  /** Wants what a holder of this state vector lacks. */
  | { readonly says: "ask"; readonly vector: Uint8Array }
  | { readonly says: "bring"; readonly update: Uint8Array }
  | { readonly says: "presence"; readonly update: Uint8Array }
  | { readonly says: "ask-presence" };

/** Undefined when the bytes are none of these. Never throws. */
export function readChannelMessage(bytes: Uint8Array): ChannelMessage | undefined {
  try {
    const decoder = createDecoder(bytes);
    const message = read(decoder);
    return hasContent(decoder) ? undefined : message;
  } catch {
    return undefined; // The bytes end too early.
  }
}

function read(decoder: ReturnType<typeof createDecoder>): ChannelMessage | undefined {
  switch (readVarUint(decoder)) {
    case CHANNEL_MESSAGE.sync: {
      const step = readVarUint(decoder);
      const payload = copy(readVarUint8Array(decoder));
      if (step === SYNC.ask) return { says: "ask", vector: payload };
      return step === SYNC.answer || step === SYNC.update ? { says: "bring", update: payload } : undefined;
    }
    case CHANNEL_MESSAGE.awareness:
      return { says: "presence", update: copy(readVarUint8Array(decoder)) };
    case CHANNEL_MESSAGE.queryAwareness:
      return { says: "ask-presence" };
    default:
      return undefined;
  }
}

/** y-protocols' sync messages: step 1, step 2, update. */
const SYNC = { ask: 0, answer: 1, update: 2 } as const;

export function askMessage(vector: Uint8Array): Uint8Array {
  return syncMessage(SYNC.ask, vector);
}

export function answerMessage(update: Uint8Array): Uint8Array {
  return syncMessage(SYNC.answer, update);
}

export function updateMessage(update: Uint8Array): Uint8Array {
  return syncMessage(SYNC.update, update);
}

export function presenceMessage(update: Uint8Array): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, CHANNEL_MESSAGE.awareness);
  writeVarUint8Array(encoder, update);
  return toUint8Array(encoder);
}

/** How many of the messages with updates that this participant sent are durable (rule P52). */
export function durableMessage(count: number): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, CHANNEL_MESSAGE.durable);
  writeVarUint(encoder, count);
  return toUint8Array(encoder);
}

function syncMessage(step: number, payload: Uint8Array): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, CHANNEL_MESSAGE.sync);
  writeVarUint(encoder, step);
  writeVarUint8Array(encoder, payload);
  return toUint8Array(encoder);
}

// A view would keep the whole frame in memory, and share it with whoever sent it.
function copy(bytes: Uint8Array): Uint8Array {
  return bytes.slice();
}
