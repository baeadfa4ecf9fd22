import * as z from "zod/mini";
import { Count, Id } from "./shapes.ts";

/** The protocol's major version. Changes when an older peer could misread a frame. */
export const PROTOCOL_VERSION = 1;

/** The limits a client must know before it sends (bytes of UTF-8 JSON, messages, updates). */
export const WireLimits = z.object({
  maxMessageBytes: Count,
  maxFrameBytes: Count,
  maxOpBytes: Count,
  maxStateBytes: Count,
  maxMetadataBytes: Count,
  pageMessages: Count,
});
export type WireLimits = z.infer<typeof WireLimits>;

/** From the position after `after` on, the actor's changes were made under this mark (rule P67). */
export const PositionMark = z.object({ after: Count, mark: Id });
export type PositionMark = z.infer<typeof PositionMark>;

export const Welcome = z.object({
  type: z.literal("welcome"),
  protocol: z.number(),
  actorId: Id,
  /** Names the relay's storage as a whole; another value means other storage (rule P7). */
  storeId: Id,
  /** The actor's catalog position now. */
  cursor: Count,
  /** The latest marks of the actor's positions, in their order; absent where the storage gives none. */
  marks: z.optional(z.array(PositionMark)),
  limits: WireLimits,
  /** The relay reads the frames of streams, and carries them (rule P70). */
  streams: z.optional(z.boolean()),
  /** ISO time at which the token ends, where it does. */
  expiresAt: z.optional(z.string()),
});
export type Welcome = z.infer<typeof Welcome>;

export const Pong = z.object({ type: z.literal("pong"), id: Count });
