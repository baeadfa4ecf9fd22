import type { Message } from "../model/message.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { checkedSnapshot, checkedWritten } from "./checked-snapshot.ts";

/** What a store last told of one session, asked for once (S2) and renewed by each write (S5). */
export class RememberedSnapshot {
  readonly #load: (operationId: string | undefined) => Promise<unknown>;
  /** Absent as long as the store was not asked, or must be asked again. */
  #known: { readonly snapshot: Snapshot | undefined } | undefined;
  #loading: Promise<Snapshot | undefined> | undefined;

  constructor(load: (operationId: string | undefined) => Promise<unknown>) {
    this.#load = load;
  }

  /** The messages, as far as they are known without asking. */
  get messages(): readonly Message[] {
    return this.#known?.snapshot?.messages ?? [];
  }

  /** What is remembered, or the answer of the one load that is under way. */
  async current(operationId: string | undefined): Promise<Snapshot | undefined> {
    while (this.#known === undefined) await (this.#loading ?? this.ask(operationId));
    return this.#known.snapshot;
  }

  /** Asks the store. A failure leaves what was remembered. */
  async ask(operationId: string | undefined): Promise<Snapshot | undefined> {
    const { messages } = this;
    const loading = this.#load(operationId).then((answer) => checkedSnapshot(answer, messages));
    this.#loading = loading;
    try {
      const snapshot = await loading;
      // A write that was answered meanwhile knows better than a load that was asked before it.
      if (this.#loading === loading) this.#known = { snapshot };
      return snapshot;
    } finally {
      if (this.#loading === loading) this.#loading = undefined;
    }
  }

  /** Remembers the answer to a write. One that fails leaves what was remembered. */
  async written(writing: Promise<unknown>): Promise<Snapshot> {
    const answer = await writing;
    const { messages } = this;
    // The write stands, whatever the answer is: what was remembered is over.
    this.#known = undefined;
    this.#loading = undefined;
    const snapshot = checkedWritten(answer, messages);
    this.#known = { snapshot };
    return snapshot;
  }
}
