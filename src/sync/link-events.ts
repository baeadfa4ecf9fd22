import type { HoldfastError } from "../model/errors.ts";
import type { Welcome } from "../wire/hello.ts";
import type { RelayFrame } from "../wire/relay-frames.ts";
import type { LinkStatus } from "./connection-state.ts";

/** What a relay says once it has welcomed the client, apart from what the link itself answers for. */
export type LinkFrame = Exclude<RelayFrame, { readonly type: "welcome" | "fault" | "pong" }>;

/** `too-large`: over the limit that the relay named; it must never be sent as it is (P10). */
export type Sending = "sent" | "offline" | "too-large";

export interface LinkEvents {
  /** Frames can be sent, from inside this call on. */
  online(welcome: Welcome): void;
  frame(frame: LinkFrame): void;
  binary(channel: number, message: Uint8Array): void;
  /** What was sent may or may not have arrived; no frame of that connection follows. */
  offline(): void;
  /** `status` tells something else. */
  statusChanged(): void;
}

/** What there is to tell of a link. */
export interface LinkCondition {
  readonly link: LinkStatus;
  /** Why there is no connection, or why the last attempt failed; undefined once it stands. */
  readonly lastError: HoldfastError | undefined;
}

/** The frames that change what is stored. */
export type ToldFrame = Extract<
  LinkFrame,
  { readonly type: "ack" | "refusal" | "push" | "page" | "catalog-page" }
>;

const TOLD: ReadonlySet<LinkFrame["type"]> = new Set<ToldFrame["type"]>([
  "ack",
  "refusal",
  "push",
  "page",
  "catalog-page",
]);

export function isTold(frame: LinkFrame): frame is ToldFrame {
  return TOLD.has(frame.type);
}
