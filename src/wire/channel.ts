import * as z from "zod/mini";
import { FaultCode } from "./fault.ts";
import { Count, Id } from "./shapes.ts";

/** Opens channel number `channel` for the state and presence of one session (rules P50–P54). */
export const OpenChannel = z.object({
  type: z.literal("open-channel"),
  channel: Count,
  session: Id,
  incarnation: Id,
});
export type OpenChannel = z.infer<typeof OpenChannel>;

export const CloseChannel = z.object({ type: z.literal("close-channel"), channel: Count });
export type CloseChannel = z.infer<typeof CloseChannel>;

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
