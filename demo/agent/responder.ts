import type { Invocation, MessageInput } from "holdfast";
import { openAIResponder } from "./openai-responder.ts";
import { ruleResponder } from "./rule-responder.ts";
import type { Surroundings } from "./tools.ts";

/** What an invocation of this agent carries besides message and history. */
export interface AskedFields {
  readonly context: { readonly surroundings: Surroundings };
}
export type Asked = Invocation<AskedFields>;

/** Answers one question: the messages to append, tool calls with their results among them, in order. */
export type Responder = (asked: Asked) => Promise<readonly MessageInput[]>;

/** A model behind an OpenAI-compatible endpoint where the environment names one; else the rules. */
export function chooseResponder(env: NodeJS.ProcessEnv): {
  readonly name: string;
  readonly respond: Responder;
} {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey, OPENAI_MODEL: model = "gpt-4o-mini" } = env;
  if (baseUrl === undefined || baseUrl === "" || apiKey === undefined) {
    return { name: "rules", respond: async (asked) => ruleResponder(asked) };
  }
  return {
    name: `${model} at ${new URL(baseUrl).host}`,
    respond: openAIResponder({ baseUrl, apiKey, model }),
  };
}
