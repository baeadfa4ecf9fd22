import { openAIResponder } from "./openai-responder.ts";
import type { Responder } from "./responder.ts";
import { ruleResponder } from "./rule-responder.ts";

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
