import type { ClientFrame } from "../wire/client-frames.ts";
import { cutIntoParts, utf8Bytes, writeFrame } from "../wire/codec.ts";
import type { WireLimits } from "../wire/hello.ts";

/** The text frames that carry a frame: itself, or its parts (P11). Undefined when it is over what parts may join to. */
export function textsOf(
  frame: ClientFrame,
  id: string,
  limits: Pick<WireLimits, "maxFrameBytes" | "maxOpBytes">,
): readonly string[] | undefined {
  const text = writeFrame(frame);
  // A UTF-16 unit takes three bytes at most: short frames need no counting.
  if (text.length * 3 <= limits.maxFrameBytes) return [text];
  const bytes = utf8Bytes(text);
  if (bytes <= limits.maxFrameBytes) return [text];
  if (bytes > limits.maxOpBytes) return undefined;
  return cutIntoParts(id, text, limits.maxFrameBytes).map(writeFrame);
}
