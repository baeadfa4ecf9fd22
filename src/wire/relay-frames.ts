import * as z from "zod/mini";
import { CatalogPage, Push } from "./catalog.ts";
import { ChannelClosed, ChannelOpened } from "./channel.ts";
import { Fault } from "./fault.ts";
import { Pong, Welcome } from "./hello.ts";
import { Ack, GenerationPage, Generations, NotAnswered, Page, Refusal } from "./log.ts";
import { Stream, StreamAsk, StreamEnd, StreamRefused } from "./stream.ts";

/** Everything a relay may say in text frames. */
export const RelayFrame = z.discriminatedUnion("type", [
  Welcome,
  Fault,
  Ack,
  Refusal,
  Page,
  GenerationPage,
  Generations,
  NotAnswered,
  CatalogPage,
  Push,
  ChannelOpened,
  ChannelClosed,
  Stream,
  StreamEnd,
  StreamAsk,
  StreamRefused,
  Pong,
]);
export type RelayFrame = z.infer<typeof RelayFrame>;
