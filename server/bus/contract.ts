import type { CatalogEntry } from "../../src/wire/catalog.ts";
import type { StoredMessage } from "../storage/contract.ts";
import type { StreamName } from "../streams/held-stream.ts";

/** A durable change of one session, as relay processes tell it to each other and to their connections. */
export interface Change {
  readonly type: "change";
  readonly actor: string;
  readonly entry: CatalogEntry;
  readonly append?: { readonly start: number; readonly messages: readonly StoredMessage[] } | undefined;
  /** State that leads from cursor `after` to the entry's. */
  readonly state?: { readonly after: number; readonly updates: readonly Uint8Array[] } | undefined;
}

/** Presence on a session's channel: an awareness update, never stored. */
export interface PresenceChange {
  readonly type: "presence";
  readonly actor: string;
  readonly session: string;
  readonly incarnation: string;
  readonly update: Uint8Array;
}

/** A word about messages in the making (rule P79): a piece, an end, or a question; never stored. */
export interface StreamChange {
  readonly type: "stream";
  readonly actor: string;
  readonly said:
    | { readonly say: "piece"; readonly name: StreamName; readonly at: number; readonly text: string }
    | { readonly say: "end"; readonly id: string; readonly session: string; readonly kept: boolean }
    /** Without an id: of all that run there. */
    | { readonly say: "ask"; readonly id: string | undefined; readonly from: number };
}

/** What relay processes tell each other: durable changes, presence, and messages in the making. */
export type BusMessage = Change | PresenceChange | StreamChange;

/**
 * What carries changes between the relay processes that share a storage. Nothing depends on it for safety: what it
 * loses is missed by position, and read from storage.
 */
export interface Bus {
  /** Joins as one relay process. It receives what others publish for the actors it watches, never its own. */
  join(receive: (message: BusMessage) => void): Promise<BusMember>;
}

/** One relay process on a {@link Bus}, from `join` to `leave`. Messages for actors that nobody watches may be dropped. */
export interface BusMember {
  watch(actor: string): void;
  unwatch(actor: string): void;
  publish(message: BusMessage): void;
  leave(): Promise<void>;
}
