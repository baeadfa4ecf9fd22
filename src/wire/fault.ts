import * as z from "zod/mini";

/**
 * Every refusal there is. `close` is the WebSocket code when the refusal ends a connection or channel;
 * `remedy` says what the refused side does: `retry` later unchanged, `rebase` on what it is told, `fix` (never
 * resend as it is), `reauthenticate`, or `stop`.
 */
export const FAULTS = {
  unauthenticated: { close: 4401, remedy: "reauthenticate" },
  forbidden: { close: 4403, remedy: "stop" },
  deleted: { close: 4404, remedy: "fix" },
  "unknown-session": { close: 4404, remedy: "fix" },
  version: { close: 4409, remedy: "stop" },
  malformed: { close: 4400, remedy: "fix" },
  "too-large": { close: 4413, remedy: "fix" },
  conflict: { close: null, remedy: "rebase" },
  overlap: { close: null, remedy: "fix" },
  "op-reused": { close: null, remedy: "fix" },
  "duplicate-id": { close: null, remedy: "fix" },
  "invalid-state": { close: 4422, remedy: "fix" },
  "limit-reached": { close: 4429, remedy: "fix" },
  "try-again": { close: 1013, remedy: "retry" },
} as const satisfies Record<
  string,
  { close: number | null; remedy: "retry" | "rebase" | "fix" | "reauthenticate" | "stop" }
>;

export type FaultCode = keyof typeof FAULTS;
export const FaultCode = z.enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]]);

/** Which limit was passed, for `too-large` and `limit-reached`. */
export const LimitNamed = z.object({ name: z.string(), max: z.number() });
export type LimitNamed = z.infer<typeof LimitNamed>;

/** Ends the connection: the relay closes with the code's close number right after. */
export const Fault = z.object({
  type: z.literal("fault"),
  code: FaultCode,
  message: z.string(),
  limit: z.optional(LimitNamed),
  /** What the relay speaks, for `version`. */
  protocol: z.optional(z.number()),
});
export type Fault = z.infer<typeof Fault>;

/** The code of a WebSocket close, read back into a fault code; undefined for closes that say nothing. */
export function faultOfClose(closeCode: number): FaultCode | undefined {
  for (const code of Object.keys(FAULTS) as FaultCode[]) if (FAULTS[code].close === closeCode) return code;
  return undefined;
}
