import type { JsonObject, JsonValue } from "holdfast";
import { calculate } from "./arithmetic.ts";

/** What the agent knows of the world outside the conversation: given, so that answers can be tested. */
export interface Surroundings {
  readonly now: Date;
  readonly timeZone: string;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input, as chat endpoints want it. */
  readonly parameters: JsonObject;
  /** @throws Error in words for the reader when it cannot be done. */
  run(input: JsonObject, surroundings: Surroundings): JsonValue;
}

export const calculator: Tool = {
  name: "calculator",
  description: "Works out a sum with + - * / % ^ and brackets.",
  parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
  run: ({ expression }) => {
    if (typeof expression !== "string") throw new Error("the expression is missing");
    return calculate(expression);
  },
};

export const clock: Tool = {
  name: "clock",
  description: "Tells the present date and time.",
  parameters: { type: "object", properties: {} },
  run: (_input, { now, timeZone }) => ({
    time: now.toLocaleTimeString("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }),
    date: now.toLocaleDateString("en-GB", {
      timeZone,
      weekday: "long",
      day: "numeric",
      month: "long",
      year: "numeric",
    }),
    timeZone,
  }),
};

export const tools: readonly Tool[] = [calculator, clock];

export interface ToolOutcome {
  readonly status: "success" | "error";
  readonly content: JsonValue;
}

/** Runs a tool by name; a failure is an outcome too, so that a call never stays without its result. */
export function runTool(name: string, input: JsonObject, surroundings: Surroundings): ToolOutcome {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) return { status: "error", content: `There is no tool “${name}”.` };
  try {
    return { status: "success", content: tool.run(input, surroundings) };
  } catch (error) {
    return { status: "error", content: error instanceof Error ? error.message : String(error) };
  }
}
