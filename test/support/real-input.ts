import { readFileSync } from "node:fs";

/** One conversation of an airline agent with a customer, in chat completions format. */
export interface Transcript {
  readonly id: string;
  readonly messages: readonly { readonly role: string; readonly tool_calls?: readonly unknown[] }[];
}

/** One line of a public support channel. */
export interface ChatLine {
  readonly at: string;
  readonly speaker: string;
  readonly text: string;
}

function linesOf<T>(name: string): T[] {
  const text = readFileSync(new URL(`../data/${name}`, import.meta.url), "utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as T]));
}

export const readTranscripts = (): Transcript[] => linesOf<Transcript>("agent-transcripts.jsonl");
export const readGroupChat = (): ChatLine[] => linesOf<ChatLine>("group-chat.jsonl");
