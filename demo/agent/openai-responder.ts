import { type Message, type MessageInput, textOf, toModelMessages } from "holdfast";
import { fromOpenAI, toOpenAI } from "holdfast/openai";
import type { Responder } from "./responder.ts";
import { runTool, tools } from "./tools.ts";

interface Endpoint {
  /** Such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly fetch?: typeof fetch;
}

/** A model may call tools this many times for one answer. */
const maxRounds = 5;
const timeoutMs = 60_000;
const instructions =
  "You are the answering agent of a chat demonstration. Answer briefly, in Markdown, in the language of the question.";

/** Asks a model behind a chat completions endpoint, and runs the tools it calls. A failure becomes an answer that says so. */
export function openAIResponder(endpoint: Endpoint): Responder {
  return async ({ history, message, context: { surroundings } }) => {
    const answers: Message[] = [];
    try {
      for (let round = 0; round < maxRounds; round += 1) {
        const answer = await complete(endpoint, [...history, message, ...answers]);
        answers.push(answer);
        const calls = answer.content.filter((block) => block.type === "tool_use");
        if (calls.length === 0) return answers;
        const results = calls.map(({ id, name, input }) => ({
          type: "tool_result" as const,
          toolUseId: id,
          ...runTool(name, input, surroundings),
        }));
        answers.push(...fromOpenAI(toOpenAI([{ role: "tool", content: results }])));
      }
      return [...answers, apology("I went round in circles with my tools and stopped.")];
    } catch (error) {
      return [
        ...answers,
        apology(`The model could not be asked: ${error instanceof Error ? error.message : String(error)}`),
      ];
    }
  };
}

function apology(content: string): MessageInput {
  return { role: "assistant", content, metadata: { failed: true } };
}

async function complete(
  { baseUrl, apiKey, model, fetch: ask = fetch }: Endpoint,
  messages: readonly Message[],
): Promise<Message> {
  const response = await ask(`${baseUrl.replace(/\/$/, "")}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model,
      messages: [{ role: "system", content: instructions }, ...toOpenAI(toModelMessages(messages))],
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  // The body of a refusal may repeat what was sent, so only its number is told.
  if (!response.ok) throw new Error(`the endpoint answered ${response.status}`);
  const [answer] = fromOpenAI([firstMessage(await response.json())]);
  if (answer === undefined || (textOf(answer) === "" && answer.content.length === 0))
    throw new Error("the answer is empty");
  return answer;
}

function firstMessage(body: unknown): object {
  const choices = typeof body === "object" && body !== null && "choices" in body ? body.choices : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message =
    typeof first === "object" && first !== null && "message" in first ? first.message : undefined;
  if (typeof message !== "object" || message === null) throw new Error("the answer is not a chat completion");
  return message;
}
