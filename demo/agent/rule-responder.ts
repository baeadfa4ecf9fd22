import { type MessageInput, textOf } from "holdfast";
import { findSum } from "./arithmetic.ts";
import type { Asked } from "./responder.ts";
import { smallTalk } from "./small-talk.ts";
import { calculator, clock, runTool, type Surroundings, type Tool } from "./tools.ts";

/** Answers by rules: sums and the time through tools, some small talk, and a thoughtful echo for the rest. */
export function ruleResponder(asked: Asked): readonly MessageInput[] {
  const { message, history } = asked;
  const { surroundings } = asked.context;
  const text = textOf(message).trim();
  if (text === "") return [say("I can only read text so far.")];

  const sum = findSum(text);
  if (sum !== undefined) {
    return withTool(calculator, { expression: sum }, surroundings, ({ status, content }) =>
      status === "success"
        ? `${pretty(sum)} = **${pretty(String(content))}**`
        : `I could not work that out: ${String(content)}.`,
    );
  }
  if (
    /\b(what('s| is)? the (time|date)|what time|what day|which day|time is it|today's date)\b/i.test(text)
  ) {
    return withTool(clock, {}, surroundings, ({ content }) => {
      const { time, date, timeZone } = content as { time: string; date: string; timeZone: string };
      return `It is **${time}** on ${date} (${timeZone}).`;
    });
  }
  const earlier = history.filter(({ role }) => role === "user").map((one) => textOf(one));
  return [say(smallTalk(text) ?? echo(text, earlier))];
}

function say(content: string): MessageInput {
  return { role: "assistant", content };
}

/** The call, its result and the words about it, to be appended in one write. */
function withTool(
  tool: Tool,
  input: Record<string, string>,
  surroundings: Surroundings,
  words: (outcome: ReturnType<typeof runTool>) => string,
): readonly MessageInput[] {
  const id = `${tool.name}-1`;
  const outcome = runTool(tool.name, input, surroundings);
  return [
    { role: "assistant", content: [{ type: "tool_use", id, name: tool.name, input }] },
    { role: "tool", content: [{ type: "tool_result", toolUseId: id, ...outcome }] },
    say(words(outcome)),
  ];
}

function pretty(sum: string): string {
  return sum
    .replace(/\s*([+\-−–*×·/÷%^])\s*(?=[\d(])/g, (_, sign: string) => ` ${sign === "*" ? "×" : sign} `)
    .trim();
}

/** Says back what was heard, with what can be seen from it. */
function echo(text: string, earlier: readonly string[]): string {
  const words = text.split(/\s+/);
  const before = earlier.find((one) => one.trim().toLowerCase() === text.toLowerCase());
  if (before !== undefined)
    return "You said that before in this conversation, word for word. What would you like to add to it?";
  const quoted = `> ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`.replaceAll("\n", "\n> ");
  const size = words.length === 1 ? "One word" : `${words.length} words`;
  const longest =
    words.map((word) => word.replace(/[^\p{L}\p{N}'-]/gu, "")).sort((a, b) => b.length - a.length)[0] ?? "";
  const seen = longest.length > 3 ? `${size}, and *${longest}* seems to be the heart of it.` : `${size}.`;
  const count = earlier.length + 1;
  const turn =
    count === 1
      ? "It is the first thing you tell me here."
      : `It is message ${count} from you in this conversation, and I have all of them.`;
  const ask = text.endsWith("?")
    ? "I answer by simple rules and do not know that one"
    : "I answer by simple rules";
  return `${quoted}\n\n${seen} ${turn}\n\n${ask}; ask **What can you do?** to see what I know.`;
}
