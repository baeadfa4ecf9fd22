import * as z from "zod/mini";
import { Count, Head, Id, JsonRecord, LoggedMessage, Update } from "./shapes.ts";

/** One session as the catalog tells it. */
export const CatalogEntry = z.object({
  session: Id,
  incarnation: Id,
  /** A tombstone: the session is gone. Its head says how it stood; its metadata is erased. */
  deleted: z.boolean(),
  head: Head,
  stateCursor: Count,
  metadata: JsonRecord,
  archived: z.boolean(),
  read: z.object({ generation: Count, count: Count }),
  /** ISO time of the beginning, or the last append, replace or delete, by the relay's clock; for display and order of lists. */
  updatedAt: z.string(),
  /** The catalog position of that change: dense per actor (rule P41). */
  seq: Count,
});
export type CatalogEntry = z.infer<typeof CatalogEntry>;

export const CatalogPage = z.object({
  type: z.literal("catalog-page"),
  id: Id,
  entries: z.array(CatalogEntry),
  /** Ask from here next; everything up to it has been told. */
  cursor: Count,
  more: z.boolean(),
});
export type CatalogPage = z.infer<typeof CatalogPage>;

/** A change made elsewhere, as it happens (rules P42, P43). */
export const Push = z.object({
  type: z.literal("push"),
  entry: CatalogEntry,
  /** The appended messages, when the change was an append and short enough to send along. */
  append: z.optional(z.object({ start: Count, messages: z.array(LoggedMessage) })),
  /** State updates that lead from cursor `after` to the entry's cursor. */
  state: z.optional(z.object({ after: Count, updates: z.array(Update) })),
});
export type Push = z.infer<typeof Push>;
