import * as z from "zod/mini";
import { Count, Head, Id, Kept, MetadataChange, opFields, Update, WireMessage } from "./shapes.ts";

// What a client says of a log. Beside `log.ts`, so that a client, which only writes these, carries no reader of them.

const stateFields = { state: z.optional(Update), metadata: z.optional(z.array(MetadataChange)) };

/** Adds messages after `base` (rules P20–P23). No messages: only state or metadata change, still under the check. */
export const Append = z.object({
  type: z.literal("append"),
  ...opFields,
  base: Head,
  rebases: z.optional(z.literal(true)),
  messages: z.array(WireMessage),
  ...stateFields,
});
export type Append = z.infer<typeof Append>;

/** A new generation: `keep` and then `messages`, if `base` is still the head (rules P24, P25). */
export const Replace = z.object({
  type: z.literal("replace"),
  ...opFields,
  base: Head,
  rebases: z.optional(z.literal(true)),
  keep: Kept,
  messages: z.array(WireMessage),
  ...stateFields,
});
export type Replace = z.infer<typeof Replace>;

/** Changes of the catalog entry, under no check of the head: the last one to arrive wins, leaf by leaf (rule P27). */
export const Edit = z.object({
  type: z.literal("edit"),
  ...opFields,
  metadata: z.optional(z.array(MetadataChange)),
  archived: z.optional(z.boolean()),
  /** How far the actor has read; only ever moves forward. */
  read: z.optional(z.object({ generation: Count, count: Count })),
});
export type Edit = z.infer<typeof Edit>;

export const Delete = z.object({ type: z.literal("delete"), ...opFields });
export type Delete = z.infer<typeof Delete>;

/** Asks for what is missing after `have` (rule P30); with `generation`, for messages of that archived generation from `from`. */
export const Pull = z.object({
  type: z.literal("pull"),
  id: Id,
  session: Id,
  incarnation: z.nullable(Id),
  have: z.nullable(Head),
  stateCursor: Count,
});
export type Pull = z.infer<typeof Pull>;

export const ReadGeneration = z.object({
  type: z.literal("read-generation"),
  id: Id,
  session: Id,
  incarnation: Id,
  generation: Count,
  from: Count,
});
export type ReadGeneration = z.infer<typeof ReadGeneration>;

export const ListGenerations = z.object({
  type: z.literal("list-generations"),
  id: Id,
  session: Id,
  incarnation: Id,
});
export type ListGenerations = z.infer<typeof ListGenerations>;
