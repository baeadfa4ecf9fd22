import type { Invocation, MessageInput } from "holdfast";
import type { Surroundings } from "./tools.ts";

/** What an invocation of this agent carries besides message and history. */
export interface AskedFields {
  readonly context: { readonly surroundings: Surroundings };
}
export type Asked = Invocation<AskedFields>;

/** Answers one question: the messages to append, tool calls with their results among them, in order. */
export type Responder = (asked: Asked) => Promise<readonly MessageInput[]>;
