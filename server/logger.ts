import type { Clock } from "../src/env/clock.ts";
import type { Reporter, ReportLevel } from "../src/env/reporter.ts";

/** Where a relay tells what happens: events and facts about them, never message text or tokens. */
export type RelayLogger = Reporter;

/** One JSON line an event. `debug` is left out unless asked for. */
export function jsonLogger(
  write: (line: string) => void,
  options: { readonly clock: Clock; readonly debug?: boolean | undefined },
): RelayLogger {
  const { clock, debug = false } = options;
  return {
    report: (level: ReportLevel, event, detail = {}) => {
      if (level === "debug" && !debug) return;
      write(`${JSON.stringify({ time: new Date(clock.now()).toISOString(), level, event, ...detail })}\n`);
    },
  };
}
