import * as z from "zod/mini";
import { FaultCode } from "./fault.ts";
import { Count } from "./shapes.ts";

export const ChannelOpened = z.object({ type: z.literal("channel-opened"), channel: Count });
export type ChannelOpened = z.infer<typeof ChannelOpened>;

export const ChannelClosed = z.object({
  type: z.literal("channel-closed"),
  channel: Count,
  code: FaultCode,
  message: z.string(),
});
export type ChannelClosed = z.infer<typeof ChannelClosed>;

/** Types of y-websocket messages inside binary frames. The first four are y-websocket's own. */
export const CHANNEL_MESSAGE = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3, durable: 64 } as const;
