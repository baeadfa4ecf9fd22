import type { Change } from "./database.ts";

/** A change as another tab posted it; undefined for anything else on the channel. */
export function readChange(data: unknown): Change | undefined {
  if (typeof data !== "object" || data === null || !("tables" in data) || !("sessions" in data))
    return undefined;
  const { tables, sessions } = data;
  if (!Array.isArray(tables) || !Array.isArray(sessions)) return undefined;
  return { tables: new Set(tables.map(String)), sessions: new Set(sessions.map(String)) };
}
