import type { Clock } from "../src/env/clock.ts";
import type { Connection } from "./relay-services.ts";

const LOOK_AGAIN_MS = 20;

/**
 * Waits until at most `maxBytes` wait to leave, so that a reader gets pages at its own pace. False when it took nothing
 * for `timeoutMs`.
 */
export async function drained(
  connection: Connection,
  options: { clock: Clock; maxBytes: number; timeoutMs: number },
): Promise<boolean> {
  const { clock, maxBytes, timeoutMs } = options;
  let least = connection.bufferedBytes;
  let idleMs = 0;
  while (connection.bufferedBytes > maxBytes) {
    if (idleMs >= timeoutMs) return false;
    await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
    idleMs = connection.bufferedBytes < least ? 0 : idleMs + LOOK_AGAIN_MS;
    least = Math.min(least, connection.bufferedBytes);
  }
  return true;
}
