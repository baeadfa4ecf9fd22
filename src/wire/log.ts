import * as z from "zod/mini";
import { FaultCode, LimitNamed } from "./fault.ts";
import { Count, Head, Id, LoggedMessage, Update } from "./shapes.ts";

/** The op is done and durable. The same op gets the same acknowledgement, however late it asks again (rule P14). */
export const Ack = z.object({
  type: z.literal("ack"),
  opId: Id,
  session: Id,
  incarnation: Id,
  /** `applied` now, `known` from before, or `present`: the messages stood there already under their ids. */
  outcome: z.enum(["applied", "known", "present"]),
  /** The head this op made; for edits and deletes the head it left alone. */
  head: Head,
  /** How many messages of the op end at that head. */
  added: Count,
  /** The catalog position of the change (0 when nothing changed now). */
  seq: Count,
  /** The session's state cursor after it. */
  stateCursor: Count,
});
export type Ack = z.infer<typeof Ack>;

/** The op left nothing (rule P13). */
export const Refusal = z.object({
  type: z.literal("refusal"),
  opId: Id,
  session: Id,
  code: FaultCode,
  message: z.string(),
  limit: z.optional(LimitNamed),
  /** For `conflict`: where the session really stands. */
  actual: z.optional(z.object({ incarnation: Id, head: Head })),
  /** For `conflict`: what follows `base.count`, when the base is a prefix of the log and the tail is short. */
  tail: z.optional(z.array(LoggedMessage)),
});
export type Refusal = z.infer<typeof Refusal>;

export const Page = z.object({
  type: z.literal("page"),
  id: Id,
  session: Id,
  incarnation: Id,
  generation: Count,
  /** Position of the first message here. Below `have.count`: what was held from there on is not this log (rule P31). */
  start: Count,
  messages: z.array(LoggedMessage),
  head: Head,
  /** More pages follow: ask again from the end of this one. */
  more: z.boolean(),
  /** State updates after the asked cursor, once no messages remain. */
  state: z.array(Update),
  stateCursor: Count,
  /** The relay's log is shorter than what was held, in the same generation and incarnation (rule P33). */
  behind: z.optional(z.boolean()),
});
export type Page = z.infer<typeof Page>;

export const GenerationPage = z.object({
  type: z.literal("generation-page"),
  id: Id,
  generation: Count,
  start: Count,
  messages: z.array(LoggedMessage),
  more: z.boolean(),
});
export type GenerationPage = z.infer<typeof GenerationPage>;

export const GenerationEntry = z.object({
  generation: Count,
  count: Count,
  /** ISO time of the replace that ended it. Absent for the current one. */
  replacedAt: z.optional(z.string()),
  /** The op that made it. Absent for generation 0. */
  opId: z.optional(Id),
});
export type GenerationEntry = z.infer<typeof GenerationEntry>;

export const Generations = z.object({
  type: z.literal("generations"),
  id: Id,
  generations: z.array(GenerationEntry),
});
export type Generations = z.infer<typeof Generations>;

/** The answer to a request that cannot be met (rule P34). */
export const NotAnswered = z.object({
  type: z.literal("not-answered"),
  id: Id,
  code: FaultCode,
  message: z.string(),
});
export type NotAnswered = z.infer<typeof NotAnswered>;
