import { RejectedError } from "../model/errors.ts";
import type { Reader } from "../store/database.ts";
import type { Draft } from "../store/enqueue.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import { utf8Bytes } from "../wire/codec.ts";
import type { WireLimits } from "../wire/hello.ts";

export type OpLimits = Pick<
  WireLimits,
  "maxMessageBytes" | "maxOpBytes" | "maxMetadataBytes" | "maxStateBytes"
>;

/** The limits of the last welcome, in any tab, at any time. */
export async function limitsIn(tx: Reader<SyncRows>): Promise<OpLimits | undefined> {
  return (await tx.get("meta", ["limits"]))?.value as OpLimits | undefined;
}

/**
 * Refuses at the call what the relay would refuse later.
 * @throws RejectedError `too-large`, naming the limit in bytes of UTF-8 JSON.
 */
export function checkLimits(draft: Draft, limits: OpLimits | undefined): void {
  // No relay has told its limits yet: what turns out too large is set aside then.
  if (limits === undefined) return;
  let total = 0;
  if ("messages" in draft) {
    for (const message of draft.messages) {
      const bytes = utf8Bytes(JSON.stringify(message));
      must("maxMessageBytes", bytes, limits);
      total += bytes;
    }
  }
  if (draft.metadata !== undefined) {
    const bytes = utf8Bytes(JSON.stringify(draft.metadata));
    must("maxMetadataBytes", bytes, limits);
    total += bytes;
  }
  if (draft.state !== undefined) {
    must("maxStateBytes", draft.state.update.byteLength, limits);
    // As base64 on the wire.
    total += Math.ceil(draft.state.update.byteLength / 3) * 4;
  }
  must("maxOpBytes", total, limits);
}

/** The same for a whole state, in bytes of its document. @throws RejectedError `too-large` */
export function checkStateBytes(bytes: number, limits: OpLimits): void {
  must("maxStateBytes", bytes, limits);
}

function must(name: keyof OpLimits, bytes: number, limits: OpLimits): void {
  if (bytes <= limits[name]) return;
  throw new RejectedError(`${bytes} bytes are more than ${name} allows (${limits[name]})`, {
    reason: "too-large",
  });
}
