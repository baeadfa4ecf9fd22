import * as z from "zod/mini";
import { Catalog, CatalogPage, Push } from "./catalog.ts";
import { ChannelClosed, ChannelOpened, CloseChannel, OpenChannel } from "./channel.ts";
import { Fault } from "./fault.ts";
import { Hello, Part, Ping, Pong, Reauthenticate, Welcome } from "./hello.ts";
import {
  Ack,
  Append,
  Delete,
  Edit,
  GenerationPage,
  Generations,
  ListGenerations,
  NotAnswered,
  Page,
  Pull,
  ReadGeneration,
  Refusal,
  Replace,
} from "./log.ts";
import { Stream, StreamAsk, StreamEnd, StreamRefused } from "./stream.ts";

/** Everything a client may say in text frames. */
export const ClientFrame = z.discriminatedUnion("type", [
  Hello,
  Reauthenticate,
  Append,
  Replace,
  Edit,
  Delete,
  Pull,
  ReadGeneration,
  ListGenerations,
  Catalog,
  OpenChannel,
  CloseChannel,
  Stream,
  StreamEnd,
  StreamAsk,
  Ping,
  Part,
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

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

/** The frames that are ops: kept in an outbox until acknowledged or refused. */
export type OpFrame = Extract<ClientFrame, { opId: string }>;
