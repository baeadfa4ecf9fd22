import { createDecoder, readTailAsUint8Array, readVarUint } from "lib0/decoding";
import { createEncoder, toUint8Array, writeUint8Array, writeVarUint } from "lib0/encoding";

/** A binary frame: a channel number (varint, as lib0 writes it), then one y-websocket message, unchanged (rule P51). */
export function writeChannelFrame(channel: number, message: Uint8Array): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, channel);
  writeUint8Array(encoder, message);
  return toUint8Array(encoder);
}

/** Undefined when the bytes are not a channel frame. */
export function readChannelFrame(bytes: Uint8Array): { channel: number; message: Uint8Array } | undefined {
  try {
    const decoder = createDecoder(bytes);
    const channel = readVarUint(decoder);
    const message = readTailAsUint8Array(decoder);
    return message.byteLength === 0 ? undefined : { channel, message };
  } catch {
    return undefined;
  }
}
