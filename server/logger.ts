import type { Clock } from "../src/env/clock.ts";
import type { Reporter, ReportLevel } from "../src/env/reporter.ts";

/**
 * Where a relay tells what happens: events and facts about them, never message text or tokens. Either a reporter, or a
 * logger with a method a level that takes the facts and the event, as pino and `console` do.
 */
export type RelayLogger = Reporter | LevelLogger;

/** A logger with a method a level: pino's, or `console`. */
export interface LevelLogger {
  error(facts: object, event: string): void;
  info(facts: object, event: string): void;
  debug(facts: object, event: string): void;
}

export function reporterOf(logger: RelayLogger): Reporter {
  if ("report" in logger) return logger;
  return { report: (level, event, detail = {}) => logger[level](detail, event) };
}

export function isLogger(value: unknown): boolean {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const logger = value as { readonly [method: string]: unknown };
  const names = "report" in logger ? ["report"] : ["error", "info", "debug"];
  return names.every((name) => typeof logger[name] === "function");
}

/** One JSON line an event. `debug` is left out unless asked for. */
export function jsonLogger(
  write: (line: string) => void,
  options: { readonly clock: Clock; readonly debug?: boolean | undefined },
): Reporter {
  const { clock, debug = false } = options;
  return {
    report: (level: ReportLevel, event, detail = {}) => {
      if (level === "debug" && !debug) return;
      write(`${JSON.stringify({ time: new Date(clock.now()).toISOString(), level, event, ...detail })}\n`);
    },
  };
}
