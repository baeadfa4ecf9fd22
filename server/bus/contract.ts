import type { CatalogEntry } from "../../src/wire/catalog.ts";
import type { StoredMessage } from "../storage/contract.ts";

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

/** What relay processes tell each other: durable changes, and presence. */
export type BusMessage = Change | PresenceChange;

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
