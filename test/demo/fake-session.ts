// A session without storage, for tests of what stands above it.
import type { JsonObject } from "../../src/model/json.ts";
import { type Message, textOf } from "../../src/model/message.ts";
import type { Snapshot } from "../../src/model/snapshot.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import type { SyncedWrite } from "../../src/session/synced-write.ts";
import type { MessageEntry } from "../../src/store/live-store.ts";
import type { SessionEntry } from "../../src/sync/catalog.ts";

/** What is public of a class, so that another may stand in for it. */
export type Public<T> = Pick<T, keyof T>;
type Shown =
  | "load"
  | "reload"
  | "history"
  | "metadata"
  | "state"
  | "updateState"
  | "append"
  | "subscribe"
  | "close";

/** What a handle needs of the client that gave it out. */
export interface FakeHost {
  pause(): Promise<void>;
  write(conversation: FakeConversation, write: SyncedWrite): void;
}

export class Listeners {
  readonly #all = new Set<() => void>();
  get count(): number {
    return this.#all.size;
  }
  readonly add = (listener: () => void): (() => void) => {
    const own = (): void => listener();
    this.#all.add(own);
    return () => {
      this.#all.delete(own);
    };
  };
  tell(): void {
    for (const listener of [...this.#all]) listener();
  }
}

/** One conversation as the fake keeps it: shared by all handles of it. */
export class FakeConversation {
  readonly id: string;
  readonly changes = new Listeners();
  log: MessageEntry[] = [];
  metadata: JsonObject = {};
  state: JsonObject = {};
  archived = false;
  read = 0;
  updatedAt = new Date(0).toISOString();

  constructor(id: string) {
    this.id = id;
  }
  entry(): SessionEntry {
    const title = this.metadata.title;
    const last = this.log.at(-1)?.message;
    return {
      id: this.id,
      title: typeof title === "string" ? title : undefined,
      preview: last === undefined ? "" : textOf(last).replace(/\s+/g, " ").slice(0, 140),
      count: this.log.length,
      unread: this.log.slice(this.read).filter(({ message }) => message.role === "assistant").length,
      pending: this.log.filter(({ delivery }) => delivery === "pending").length,
      updatedAt: this.updatedAt,
      archived: this.archived,
      metadata: this.metadata,
    };
  }
}

/** A handle: it shows nothing until `loaded`, as one does whose storage is slow. */
export class FakeSession implements Pick<SyncedSession, "id" | Shown> {
  readonly id: string;
  readonly conversation: FakeConversation;
  readonly messages: Public<SyncedSession["messages"]>;
  closed = false;
  #loaded: Promise<void>;
  #showing = 0;
  readonly #client: FakeHost;
  readonly #own = new Listeners();

  constructor(client: FakeHost, conversation: FakeConversation, loading: Promise<void>) {
    this.#client = client;
    this.id = conversation.id;
    this.conversation = conversation;
    this.#loaded = loading.then(() => {
      this.#showing = 50;
      this.#own.tell();
    });
    const session = this;
    this.messages = {
      get entries() {
        return session.#showing === 0 ? [] : conversation.log.slice(-session.#showing);
      },
      get hasEarlier() {
        return session.#showing > 0 && conversation.log.length > session.#showing;
      },
      loadEarlier: async (n = 50) => {
        await client.pause();
        session.#showing += n;
        session.#own.tell();
      },
      subscribe: (listener) => session.subscribe(listener),
      close: () => {},
    };
  }
  readonly subscribe = (listener: () => void): (() => void) => {
    const stops = [this.#own.add(listener), this.conversation.changes.add(listener)];
    return () => {
      for (const stop of stops) stop();
    };
  };
  async load(): Promise<Snapshot | undefined> {
    await this.#loaded;
    return this.conversation.log.length === 0 ? undefined : this.#snapshot();
  }
  reload(): Promise<Snapshot | undefined> {
    return this.load();
  }
  async history(): Promise<readonly Message[]> {
    await this.#loaded;
    return this.conversation.log.map(({ message }) => message);
  }
  async metadata(): Promise<Readonly<JsonObject>> {
    return this.conversation.metadata;
  }
  async state(): Promise<JsonObject> {
    await this.#loaded;
    return structuredClone(this.conversation.state);
  }
  async updateState(recipe: (draft: JsonObject) => void): Promise<void> {
    recipe(this.conversation.state);
    this.conversation.changes.tell();
  }
  async append(write: SyncedWrite): Promise<Snapshot> {
    this.#client.write(this.conversation, write);
    return this.#snapshot();
  }
  async close(): Promise<void> {
    this.closed = true;
  }
  #snapshot(): Snapshot {
    const { log, state, metadata } = this.conversation;
    return {
      messages: log.map(({ message }) => message),
      state,
      metadata,
      revision: { generation: 0, count: log.length },
    };
  }
}

/** A handle, as applications know it. */
export function asSession(handle: FakeSession): SyncedSession {
  return handle as unknown as SyncedSession;
}
