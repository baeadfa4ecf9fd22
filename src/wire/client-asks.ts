import * as z from "zod/mini";
import { Count, Id } from "./shapes.ts";

// What a client says of its connection, its channels and the catalog: as `asks.ts`, read by a relay only.

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

export const Ping = z.object({ type: z.literal("ping"), id: Count });

/** A piece of one frame that is longer than `maxFrameBytes` (rule P11). `text` pieces join to the frame's JSON. */
export const Part = z.object({ type: z.literal("part"), id: Id, index: Count, of: Count, text: z.string() });
export type Part = z.infer<typeof Part>;

/** Asks for entries changed after the cursor, in the order of their positions. */
export const Catalog = z.object({ type: z.literal("catalog"), id: Id, cursor: Count });
export type Catalog = z.infer<typeof Catalog>;

/** Opens channel number `channel` for the state and presence of one session (rules P50–P54). */
export const OpenChannel = z.object({
  type: z.literal("open-channel"),
  channel: Count,
  session: Id,
  incarnation: Id,
});
export type OpenChannel = z.infer<typeof OpenChannel>;

export const CloseChannel = z.object({ type: z.literal("close-channel"), channel: Count });
export type CloseChannel = z.infer<typeof CloseChannel>;
