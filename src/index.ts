export type { Client, ClientParts } from "./client.ts";
export type {
  Content,
  ContentInput,
  DocumentBlock,
  ImageBlock,
  ReasoningBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "./model/content.ts";
export {
  ActorMismatchError,
  ConflictError,
  ConnectionError,
  HoldfastError,
  type HoldfastErrorCode,
  InvalidInputError,
  InvocationError,
  ProtocolError,
  RejectedError,
  StorageError,
  type StorageErrorReason,
} from "./model/errors.ts";
export { Invocation } from "./model/invocation.ts";
export type { JsonObject, JsonValue } from "./model/json.ts";
export {
  createMessage,
  type Message,
  type MessageInput,
  parseMessage,
  type Role,
  serializeMessage,
  textOf,
} from "./model/message.ts";
export { toModelMessages } from "./model/model-messages.ts";
export { persistable } from "./model/persistable.ts";
export { withoutReasoning } from "./model/reasoning.ts";
export type { Damage, Revision, Snapshot } from "./model/snapshot.ts";
export { type ClientOptions, type ClientSurroundings, openClient } from "./open-client.ts";
export type { LiveMessages } from "./session/live-messages.ts";
export type { LiveStreams } from "./session/live-streams.ts";
export type { MessageStream } from "./session/message-stream.ts";
export { Session } from "./session/session.ts";
export type { SyncedSession } from "./session/synced-session.ts";
export type { AppendOptions, StreamOptions, SyncedWrite } from "./session/synced-write.ts";
export type { SessionStore } from "./store/contract.ts";
export { DexieStore } from "./store/dexie-store.ts";
export type { Delivery, Generation, MessageEntry } from "./store/live-store.ts";
export { MemoryStore } from "./store/memory-store.ts";
export type { RunningStream } from "./store/running-streams.ts";
export type { Catalog, SessionEntry } from "./sync/catalog.ts";
export type { Rejected, RejectedOp } from "./sync/rejected.ts";
export type { ClientStatus, StorageStatus } from "./sync/status.ts";
