import { createMessage, Invocation, type MessageInput, textOf } from "holdfast";
import { describe, expect, test } from "vitest";
import { answerId } from "../../demo/agent/answer-id.ts";
import { chooseResponder } from "../../demo/agent/choose-responder.ts";
import { openAIResponder } from "../../demo/agent/openai-responder.ts";
import type { Asked, AskedFields } from "../../demo/agent/responder.ts";
import { ruleResponder } from "../../demo/agent/rule-responder.ts";

const surroundings = { now: new Date("2026-05-03T12:02:00Z"), timeZone: "UTC" };

function ask(text: string, history: MessageInput[] = []): Asked {
  return new Invocation<AskedFields>({ message: text, history, context: { surroundings } });
}
const words = (messages: readonly MessageInput[]): string =>
  textOf(createMessage(messages.at(-1) ?? { role: "assistant" }));

describe("answers by rules", () => {
  test("[S16] a sum is worked out by a tool, whose call and result come with the answer", () => {
    const answer = ruleResponder(ask("What is 17 × 23 + 4?")).map((one) => createMessage(one));
    expect(answer.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
    expect(answer[0]?.content).toMatchObject([
      { type: "tool_use", name: "calculator", input: { expression: "17 × 23 + 4" } },
    ]);
    expect(answer[1]?.content).toMatchObject([
      { type: "tool_result", toolUseId: "calculator-1", content: 395, status: "success" },
    ]);
    expect(words(answer)).toBe("17 × 23 + 4 = **395**");
  });

  test("[C55] a tool that fails gives an error result and an answer that says so", () => {
    const answer = ruleResponder(ask("1 / 0")).map((one) => createMessage(one));
    expect(answer[1]?.content).toMatchObject([{ type: "tool_result", status: "error" }]);
    expect(words(answer)).toContain("division by zero");
  });

  test("the time is that of the surroundings", () => {
    expect(words(ruleResponder(ask("What time is it?")))).toBe(
      "It is **12:02** on Sunday, 3 May 2026 (UTC).",
    );
  });

  test.each([
    ["Hello there", /Hello/],
    ["What can you do?", /work out sums/],
    ["Show me some code", /```ts/],
    ["thanks!", /welcome/],
  ])("%j is known", (text, answer) => {
    expect(words(ruleResponder(ask(text)))).toMatch(answer);
  });

  test("anything else is said back with what can be seen from it, and repetition is noticed", () => {
    const first = words(ruleResponder(ask("Kelp forests fascinate me")));
    expect(first).toContain("> Kelp forests fascinate me");
    expect(first).toContain("*fascinate*");
    const again = ask("Kelp forests fascinate me", [{ role: "user", content: "kelp forests fascinate me" }]);
    expect(words(ruleResponder(again))).toContain("word for word");
  });
});

describe("answers by a model", () => {
  const endpoint = { baseUrl: "https://model.example/v1/", apiKey: "key", model: "m" };
  function scripted(...replies: (object | number)[]) {
    const requests: { url: string; body: { messages: { role: string }[] } }[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      requests.push({ url: String(url), body: JSON.parse(String(init?.body)) });
      const reply = replies.shift() ?? 500;
      if (typeof reply === "number") return new Response("", { status: reply });
      return Response.json({ choices: [{ message: reply }] });
    };
    return { requests, respond: openAIResponder({ ...endpoint, fetch }) };
  }

  test("[S16] the model's tool calls are run here and asked on, and all of it is one answer", async () => {
    const call = {
      id: "c1",
      type: "function",
      function: { name: "calculator", arguments: '{"expression":"6*7"}' },
    };
    const { requests, respond } = scripted(
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "assistant", content: "It is 42." },
    );
    const answer = (await respond(ask("6*7?"))).map((one) => createMessage(one));
    expect(answer.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
    expect(answer[1]?.content).toMatchObject([{ type: "tool_result", toolUseId: "c1", status: "success" }]);
    expect(words(answer)).toBe("It is 42.");
    expect(requests[0]?.url).toBe("https://model.example/v1/chat/completions");
    expect(requests[1]?.body.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
    ]);
  });

  test("[C55] a history with a call that never got its result is made valid for the model", async () => {
    const { requests, respond } = scripted({ role: "assistant", content: "ok" });
    const open: MessageInput = {
      role: "assistant",
      content: [{ type: "tool_use", id: "lost", name: "clock", input: {} }],
    };
    await respond(ask("go on", [{ role: "user", content: "time?" }, open]));
    expect(requests[0]?.body.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
    ]);
  });

  test("a refusal of the endpoint is an answer that says so, and holds no key", async () => {
    const answer = await scripted(429).respond(ask("hi"));
    expect(words(answer)).toContain("429");
    expect(JSON.stringify(answer)).not.toContain('key"');
    expect(answer.at(-1)?.metadata).toEqual({ failed: true });
  });

  test("a model that never stops calling tools is stopped", async () => {
    const call = { id: "c", type: "function", function: { name: "clock", arguments: "{}" } };
    const replies = Array.from({ length: 20 }, () => ({
      role: "assistant",
      content: null,
      tool_calls: [call],
    }));
    const { requests, respond } = scripted(...replies);
    expect(words(await respond(ask("loop")))).toContain("in circles");
    expect(requests.length).toBeLessThan(10);
  });
});

test("the environment chooses who answers", () => {
  expect(chooseResponder({}).name).toBe("rules");
  const named = chooseResponder({
    OPENAI_BASE_URL: "https://model.example/v1",
    OPENAI_API_KEY: "k",
    OPENAI_MODEL: "m",
  });
  expect(named.name).toBe("m at model.example");
});

test("the ids of an answer follow from the question alone", () => {
  expect(answerId("q", 0)).toBe(answerId("q", 0));
  expect(new Set([answerId("q", 0), answerId("q", 1), answerId("r", 0)]).size).toBe(3);
  expect(answerId("x".repeat(128), 999).length).toBeLessThanOrEqual(128);
});
