import * as z from "zod/mini";
import { Append, Delete, Edit, ListGenerations, Pull, ReadGeneration, Replace } from "./asks.ts";
import { Catalog, CloseChannel, Hello, OpenChannel, Part, Ping, Reauthenticate } from "./client-asks.ts";
import { Stream, StreamAsk, StreamEnd } from "./stream.ts";

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

/** The frames that are ops: kept in an outbox until acknowledged or refused. */
export type OpFrame = Extract<ClientFrame, { opId: string }>;
