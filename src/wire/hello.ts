import * as z from "zod/mini";
import { Count, Id } from "./shapes.ts";

/** The protocol's major version. Changes when an older peer could misread a frame. */
export const PROTOCOL_VERSION = 1;

export const Hello = z.object({
  type: z.literal("hello"),
  protocol: z.number(),
  actorId: Id,
  token: z.optional(z.string()),
  /** Names this client instance in logs; has no rights. */
  device: Id,
  /** It reads the frames of streams (rule P70). */
  streams: z.optional(z.boolean()),
});
export type Hello = z.infer<typeof Hello>;

export const Reauthenticate = z.object({ type: z.literal("reauthenticate"), token: z.string() });

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

export const Ping = z.object({ type: z.literal("ping"), id: Count });
export const Pong = z.object({ type: z.literal("pong"), id: Count });

/** A piece of one frame that is longer than `maxFrameBytes` (rule P11). `text` pieces join to the frame's JSON. */
export const Part = z.object({ type: z.literal("part"), id: Id, index: Count, of: Count, text: z.string() });
export type Part = z.infer<typeof Part>;
