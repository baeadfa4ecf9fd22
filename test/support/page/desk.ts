// A small application on the SDK, for tests that sit outside the page: one client, its sessions, and what is seen of them.
import {
  type Client,
  type ClientStatus,
  createMessage,
  openClient,
  type SyncedSession,
  serializeMessage,
  textOf,
} from "holdfast";
import { fromOpenAI } from "holdfast/openai";
import { namedSockets } from "./named-socket.ts";

/** One line as a user sees it. */
export interface SeenLine {
  readonly id: string;
  readonly text: string;
  readonly delivery: string;
}

let client: Client | undefined;
const sessions = new Map<string, SyncedSession>();

function opened(): Client {
  if (client === undefined) throw new Error("No client is open on this page");
  return client;
}

function session(id: string): SyncedSession {
  let held = sessions.get(id);
  if (held === undefined) {
    held = opened().session(id);
    sessions.set(id, held);
  }
  return held;
}

export const desk = {
  /** With a `tab`, a recorder on the way to the relay is told which tab each socket belongs to. */
  async open(options: { url: string; actorId: string; name?: string; tab?: string }): Promise<void> {
    const { tab, ...given } = options;
    client = await openClient(tab === undefined ? given : { ...given, WebSocket: namedSockets(tab) });
  },
  async close(): Promise<void> {
    await opened().close();
    client = undefined;
    sessions.clear();
  },
  session,
  status: (): Pick<ClientStatus, "link" | "pending" | "rejected" | "leader" | "storage"> => {
    const { link, pending, rejected, leader, storage } = opened().status;
    return { link, pending, rejected, leader, storage };
  },
  flush: (timeoutMs: number) => opened().flush({ timeoutMs }),
  reconnect: () => opened().reconnect(),
  wipe: (force: boolean) => opened().wipe({ force }),
  lastError: () => opened().status.lastError?.message,

  /** Each text is an append of its own; resolves with their ids when all are committed here. */
  async say(id: string, texts: readonly string[]): Promise<string[]> {
    const messages = texts.map((text) => createMessage({ role: "user", content: text }));
    await Promise.all(messages.map((message) => session(id).append({ messages: [message] })));
    return messages.map((message) => message.id);
  },
  texts: async (id: string): Promise<string[]> => (await session(id).history()).map(textOf),
  serialized: async (id: string) => (await session(id).history()).map(serializeMessage),
  /** What the live window shows. */
  seen: (id: string): SeenLine[] =>
    session(id).messages.entries.map(({ message, delivery }) => ({
      id: message.id,
      text: textOf(message),
      delivery,
    })),
  state: (id: string) => session(id).state(),
  async setState(id: string, key: string, value: string): Promise<void> {
    await session(id).updateState((draft) => {
      draft[key] = value;
    });
  },
  async list(): Promise<{ id: string; count: number; pending: number }[]> {
    const found: { id: string; count: number; pending: number }[] = [];
    for (let before: string | undefined; ; ) {
      const page = await opened().sessions.list({ limit: 200, before });
      for (const { id, count, pending } of page.entries) found.push({ id, count, pending });
      if (page.next === undefined) return found;
      before = page.next;
    }
  },
  /** A conversation in chat completions format becomes a session by one checkpoint. Tells what it should read back as. */
  async importChat(id: string, messages: readonly object[]) {
    const snapshot = await session(id).checkpoint({
      messages: fromOpenAI(messages),
      metadata: { source: "chat" },
    });
    return snapshot.messages.map(serializeMessage);
  },
};
