import { newId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { createMessage, type Message, type MessageInput, serializeMessage } from "../model/message.ts";
import type { Revision, Snapshot } from "../model/snapshot.ts";
import type { SessionStore } from "../store/contract.ts";
import { claim, claimEqual } from "./claims.ts";

/** One rule of stores, ready to be run. */
export interface StoreCase {
  /** A sentence led by the rule's id in brackets. */
  readonly name: string;
  /** Rejects when the rule is broken. */
  readonly run: () => Promise<void>;
}

/** One rule of stores, to be run on a fresh one. */
export interface StoreRule {
  readonly name: string;
  readonly run: (store: SessionStore) => Promise<void>;
}

export interface Said {
  readonly messages?: readonly (Message | MessageInput)[];
  readonly state?: JsonObject;
  readonly metadata?: JsonObject;
}

/** One session of a store, with the arguments that a case does not care about filled in. */
export class StoredSession {
  readonly id: string = `conformance-${newId()}`;
  readonly store: SessionStore;
  readonly actorId: string | undefined;

  constructor(store: SessionStore, actorId: string | undefined) {
    this.store = store;
    this.actorId = actorId;
  }

  get scope(): { readonly actorId?: string } {
    return this.actorId === undefined ? {} : { actorId: this.actorId };
  }

  load(): Promise<Snapshot | undefined> {
    return this.store.load(this.id, this.scope);
  }

  append(expected: Revision, said: Said = {}): Promise<Snapshot> {
    return this.store.append(this.id, {
      ...this.scope,
      ...filled(said),
      expectedCount: expected.count,
      expectedGeneration: expected.generation,
    });
  }

  replace(said: Said = {}, expected?: Revision): Promise<Snapshot> {
    return this.store.replace(this.id, {
      ...this.scope,
      ...filled(said),
      ...(expected === undefined ? {} : { expected }),
    });
  }

  /** What is stored, as JSON; null when there is no session. */
  async seen(): Promise<JsonObject | null> {
    const snapshot = await this.load();
    return snapshot === undefined ? null : asJson(snapshot);
  }

  /** Runs calls that must change nothing. */
  async unchangedBy(calls: () => Promise<void>): Promise<void> {
    const before = await this.seen();
    await calls();
    claimEqual(await this.seen(), before, "what is stored after a refusal");
  }
}

export const START: Revision = { generation: 0, count: 0 };

/** A message that says a text. */
export function said(text: string, role: Message["role"] = "user"): Message {
  return createMessage({ role, content: text });
}

/** A snapshot as JSON, to be compared. */
export function asJson({ messages, state, metadata, revision }: Snapshot): JsonObject {
  const { generation, count } = revision;
  return { messages: messages.map(serializeMessage), state, metadata, revision: { generation, count } };
}

/** Fails unless the snapshot holds just these messages, in this order. */
export function claimMessages(
  snapshot: Snapshot | undefined,
  expected: readonly Message[],
  what: string,
): void {
  claim(snapshot !== undefined, `${what}: there is no session`);
  claimEqual(snapshot.messages.map(serializeMessage), expected.map(serializeMessage), what);
}

function filled({ messages = [], state = {}, metadata = {} }: Said): Required<Said> {
  return { messages, state, metadata };
}
