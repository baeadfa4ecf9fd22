import type { Snapshot } from "../../src/model/snapshot.ts";
import type {
  AppendWrite,
  ConversationView,
  ReplaceWrite,
  Scope,
  SessionStore,
} from "../../src/store/contract.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";

export interface Call {
  readonly name: "load" | "append" | "replace" | "projectConversation" | "synchronize";
  readonly id: string;
  readonly given: unknown;
  /** The operation that the call was made in the name of; "none" outside of any context. */
  readonly operation: string | undefined;
}

/** A memory store that notes what is asked of it, and answers otherwise where a test wants that. */
export class RecordingStore implements SessionStore {
  readonly calls: Call[] = [];
  /** Called instead of the store's own methods, where set. */
  readonly instead: {
    load?: () => unknown;
    append?: (write: AppendWrite) => unknown;
    replace?: (write: ReplaceWrite) => unknown;
  } = {};
  readonly #store: SessionStore;
  #operation: string | undefined = "none";

  constructor(store: SessionStore = new MemoryStore()) {
    this.#store = store;
  }

  /** The names of the calls so far. */
  get names(): readonly string[] {
    return this.calls.map(({ name }) => name);
  }

  async load(id: string, scope: Scope): Promise<Snapshot | undefined> {
    this.#note("load", id, scope);
    return (
      this.instead.load === undefined ? await this.#store.load(id, scope) : await this.instead.load()
    ) as Snapshot;
  }

  async append(id: string, write: AppendWrite): Promise<Snapshot> {
    this.#note("append", id, write);
    const { append } = this.instead;
    return (append === undefined ? await this.#store.append(id, write) : await append(write)) as Snapshot;
  }

  async replace(id: string, write: ReplaceWrite): Promise<Snapshot> {
    this.#note("replace", id, write);
    const { replace } = this.instead;
    return (replace === undefined ? await this.#store.replace(id, write) : await replace(write)) as Snapshot;
  }

  async projectConversation(id: string, view: ConversationView): Promise<unknown> {
    this.#note("projectConversation", id, view);
    return { shown: view.messages.length };
  }

  synchronize<T>(id: string, scope: Scope, work: () => Promise<T>): Promise<T> {
    this.#note("synchronize", id, scope);
    return this.#store.synchronize(id, scope, work);
  }

  withOperationContext<T>(operationId: string | undefined, work: () => Promise<T>): Promise<T> {
    const outer = this.#operation;
    this.#operation = operationId;
    try {
      return work();
    } finally {
      this.#operation = outer;
    }
  }

  #note(name: Call["name"], id: string, given: unknown): void {
    this.calls.push({ name, id, given, operation: this.#operation });
  }
}
