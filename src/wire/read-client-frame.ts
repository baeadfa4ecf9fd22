import { ClientFrame } from "./client-frames.ts";
import { type Read, readAs } from "./codec.ts";

/** Reads one text frame from a client. Never throws. */
export function readClientFrame(text: string): Read<ClientFrame> {
  return readAs(ClientFrame, text);
}
