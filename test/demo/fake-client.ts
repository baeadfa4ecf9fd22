// A client without storage or network, for tests of what stands above it: everything happens when the test says so.
import type { Client } from "../../src/client.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { createMessage, type Message, type MessageInput, textOf } from "../../src/model/message.ts";
import type { SyncedWrite } from "../../src/session/synced-write.ts";
import type { MessageEntry } from "../../src/store/live-store.ts";
import type { Catalog, SessionEntry } from "../../src/sync/catalog.ts";
import type { Rejected, RejectedOp } from "../../src/sync/rejected.ts";
import type { ClientStatus } from "../../src/sync/status.ts";
import { FakeConversation, FakeSession, Listeners, type Public } from "./fake-session.ts";

type Known = "actorId" | "status" | "subscribe" | "reconnect" | "flush" | "wipe" | "close";

export class FakeClient implements Pick<Client, Known> {
  readonly actorId: string;
  readonly conversations = new Map<string, FakeConversation>();
  readonly handles: FakeSession[] = [];
  readonly statusListeners = new Listeners();
  readonly catalogListeners = new Listeners();
  /** Called with each message that reaches the relay: where a test's answers come from. */
  delivered: (conversation: FakeConversation, message: Message) => void = () => {};
  /** Awaited before anything that a slow storage would make wait. */
  pause: () => Promise<void> = () => Promise.resolve();
  now: () => Date = () => new Date();
  closed = false;
  #rejected: RejectedOp[] = [];
  #link: ClientStatus["link"] = "online";
  #syncedAt: string | undefined;

  constructor(actorId = "ada") {
    this.actorId = actorId;
  }

  get status(): ClientStatus {
    return {
      link: this.#link,
      pending: [...this.conversations.values()].reduce(
        (sum, { log }) => sum + log.filter((e) => e.delivery === "pending").length,
        0,
      ),
      rejected: this.#rejected.length,
      lastSyncedAt: this.#syncedAt,
      lastError: undefined,
      storage: "best-effort",
      leader: true,
    };
  }
  readonly subscribe = this.statusListeners.add;

  readonly session = (id: string): FakeSession => {
    const handle = new FakeSession(this, this.conversation(id), this.pause());
    this.handles.push(handle);
    return handle;
  };

  readonly sessions: Public<Catalog> = {
    list: async ({ limit = 50, before }: { limit?: number; before?: string } = {}) => {
      await this.pause();
      const all = this.#listed();
      const from = before === undefined ? 0 : Number(before);
      const entries = all.slice(from, from + limit);
      const next = from + limit < all.length ? String(from + limit) : undefined;
      return next === undefined ? { entries } : { entries, next };
    },
    subscribe: this.catalogListeners.add,
    search: async (text: string) => {
      const words = text.toLowerCase();
      return this.#listed().filter((entry) => {
        const said = this.conversation(entry.id)
          .log.map(({ message }) => textOf(message))
          .join("\n");
        return `${entry.title ?? ""}\n${said}`.toLowerCase().includes(words);
      });
    },
    create: async (id = `session-${this.conversations.size}`) => {
      this.#touch(this.conversation(id));
      return id;
    },
    rename: async (id: string, title: string) => {
      const conversation = this.conversation(id);
      conversation.metadata = { ...conversation.metadata, title };
      this.#tell(conversation);
    },
    archive: async (id: string, on = true) => {
      this.conversation(id).archived = on;
      this.#tell(this.conversation(id));
    },
    delete: async (id: string) => {
      const conversation = this.conversation(id);
      this.conversations.delete(id);
      conversation.log = [];
      this.#tell(conversation);
    },
    markRead: async (id: string, count: number) => {
      const conversation = this.conversation(id);
      conversation.read = Math.max(conversation.read, count);
      this.#tell(conversation);
    },
  };

  readonly rejected: Public<Rejected> = {
    list: async () => [...this.#rejected],
    retry: async (opId: string) => {
      const op = this.#take(opId);
      if (op !== undefined) this.#deliver(this.conversation(op.sessionId), op.messages, "pending");
      this.#drain();
    },
    discard: async (opId: string) => {
      const op = this.#take(opId);
      if (op === undefined) return;
      const conversation = this.conversation(op.sessionId);
      conversation.log = conversation.log.filter(({ message }) => !op.messages.includes(message));
      this.#tell(conversation);
    },
  };

  conversation(id: string): FakeConversation {
    const known = this.conversations.get(id);
    if (known !== undefined) return known;
    const made = new FakeConversation(id);
    this.conversations.set(id, made);
    return made;
  }
  /** As if another device had written. */
  arrive(id: string, messages: readonly (Message | MessageInput)[], metadata?: JsonObject): void {
    const conversation = this.conversation(id);
    conversation.log = [
      ...conversation.log,
      ...messages.map((m) => ({ message: createMessage(m), delivery: "confirmed" as const })),
    ];
    if (metadata !== undefined) conversation.metadata = metadata;
    this.#touch(conversation);
  }
  write(conversation: FakeConversation, { messages, state, metadata }: SyncedWrite): void {
    const fresh = [...messages].map((m) => ({ message: createMessage(m), delivery: "pending" as const }));
    conversation.log = [...conversation.log, ...fresh];
    if (state !== undefined) conversation.state = state;
    if (metadata !== undefined) conversation.metadata = metadata;
    this.#touch(conversation);
    if (this.#link === "online") queueMicrotask(() => this.#drain());
  }
  reject(id: string, messageId: string, reason: string): void {
    const conversation = this.conversation(id);
    const messages = conversation.log
      .filter(({ message }) => message.id === messageId)
      .map(({ message }) => message);
    this.#rejected.push({
      opId: `op-${messageId}`,
      sessionId: id,
      kind: "append",
      reason,
      messages,
      at: this.now().toISOString(),
    });
    this.#deliver(conversation, messages, "rejected");
  }
  setLink(link: ClientStatus["link"]): void {
    this.#link = link;
    if (link === "online") this.#syncedAt = this.now().toISOString();
    this.statusListeners.tell();
    if (link === "online") this.#drain();
  }
  reconnect(): void {
    this.setLink("online");
  }
  async flush(): Promise<{ pending: number }> {
    return { pending: this.status.pending };
  }
  async wipe({ force = false }: { force?: boolean } = {}): Promise<{ pending: number }> {
    const { pending } = this.status;
    if (force || pending === 0) this.conversations.clear();
    return { pending };
  }
  async close(): Promise<void> {
    this.closed = true;
  }

  #listed(): SessionEntry[] {
    const entries = [...this.conversations.values()]
      .filter(({ updatedAt }) => Date.parse(updatedAt) > 0)
      .map((c) => c.entry());
    return entries.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  }
  #take(opId: string): RejectedOp | undefined {
    const op = this.#rejected.find((candidate) => candidate.opId === opId);
    this.#rejected = this.#rejected.filter((candidate) => candidate !== op);
    return op;
  }
  #drain(): void {
    for (const conversation of this.conversations.values()) {
      const waiting = conversation.log
        .filter(({ delivery }) => delivery === "pending")
        .map(({ message }) => message);
      if (waiting.length === 0) continue;
      this.#deliver(conversation, waiting, "confirmed");
      for (const message of waiting) this.delivered(conversation, message);
    }
  }
  #deliver(
    conversation: FakeConversation,
    messages: readonly Message[],
    delivery: MessageEntry["delivery"],
  ): void {
    conversation.log = conversation.log.map((entry) =>
      messages.includes(entry.message) ? { message: entry.message, delivery } : entry,
    );
    this.#tell(conversation);
  }
  #touch(conversation: FakeConversation): void {
    conversation.updatedAt = this.now().toISOString();
    this.#tell(conversation);
  }
  #tell(conversation: FakeConversation): void {
    conversation.changes.tell();
    this.catalogListeners.tell();
    this.statusListeners.tell();
  }
}

/** The same, as the interface that applications know. */
export function asClient(fake: FakeClient): Client {
  return fake as unknown as Client;
}
