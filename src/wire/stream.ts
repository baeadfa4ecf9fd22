import * as z from "zod/mini";
import { FaultCode, LimitNamed } from "./fault.ts";
import { Count, Id } from "./shapes.ts";

/** A piece of a message in the making (rules P70–P78), in both directions. An empty one says that it still runs. */
export const Stream = z.object({
  type: z.literal("stream"),
  /** Of the stream, and of the message that it becomes. */
  id: Id,
  session: Id,
  /** Null while the relay has named none. */
  incarnation: z.nullable(Id),
  role: z.enum(["developer", "user", "assistant"]),
  runId: z.optional(Id),
  /** UTF-16 code units of the text that stand before this piece. */
  at: Count,
  text: z.string(),
});
export type Stream = z.infer<typeof Stream>;

/** Nothing follows; with `kept`, a message with the stream's id does. */
export const StreamEnd = z.object({ type: z.literal("stream-end"), id: Id, session: Id, kept: z.boolean() });
export type StreamEnd = z.infer<typeof StreamEnd>;

/** To the relay: what runs? Without an id: of all. To a writer: its stream again, from here on. */
export const StreamAsk = z.object({
  type: z.literal("stream-ask"),
  id: z.optional(Id),
  from: z.optional(Count),
});
export type StreamAsk = z.infer<typeof StreamAsk>;

/** The relay carries this stream no further, for good. */
export const StreamRefused = z.object({
  type: z.literal("stream-refused"),
  id: Id,
  code: FaultCode,
  message: z.string(),
  limit: z.optional(LimitNamed),
});
export type StreamRefused = z.infer<typeof StreamRefused>;
