import { durableMessage, presenceMessage } from "./messages.ts";
import { Presence } from "./presence.ts";
import type { Ending, Seat } from "./seat.ts";

export interface Member {
  readonly seat: Seat;
  /** Messages with updates that are durable (P52). */
  durable: number;
  queuedBytes: number;
  opened: boolean;
}

/** Who is on one channel, and what they say of themselves. */
export class Members {
  readonly #members = new Map<Seat, Member>();
  readonly #presence: Presence<Seat>;
  readonly #passPresence: (update: Uint8Array) => void;

  constructor(options: { maxPresenceBytes: number; passPresence: (update: Uint8Array) => void }) {
    this.#presence = new Presence(options.maxPresenceBytes);
    this.#passPresence = options.passPresence;
  }

  get size(): number {
    return this.#members.size;
  }

  all(): readonly Member[] {
    return [...this.#members.values()];
  }

  get(seat: Seat): Member | undefined {
    return this.#members.get(seat);
  }

  add(seat: Seat): Member {
    const member: Member = { seat, durable: 0, queuedBytes: 0, opened: false };
    this.#members.set(seat, member);
    return member;
  }

  /** The others hear that it left. Answers whether it was there. */
  remove(seat: Seat): boolean {
    if (!this.#members.delete(seat)) return false;
    const farewell = this.#presence.leave(seat);
    if (farewell !== undefined) this.#tellPresence(farewell);
    return true;
  }

  /** To everyone for whom the channel is open, except the sender. */
  tell(message: Uint8Array, sender?: Seat): void {
    for (const [seat, { opened }] of this.#members) if (seat !== sender && opened) seat.send(message);
  }

  /** Counts one more durable message for each of these, and tells each once. */
  acknowledge(senders: readonly Member[]): void {
    for (const member of senders) member.durable += 1;
    for (const member of new Set(senders)) {
      if (this.#members.has(member.seat)) member.seat.send(durableMessage(member.durable));
    }
  }

  /** Answers why its sender cannot stay, where that is so. */
  takePresence(seat: Seat, update: Uint8Array): Ending | undefined {
    const problem = this.#presence.take(update, seat);
    // The sender hears itself: stock clients take silence for a dead connection.
    if (problem === undefined) this.#tellPresence(update);
    return problem;
  }

  tellEveryone(seat: Seat): void {
    const everyone = this.#presence.everyone();
    if (everyone !== undefined) seat.send(presenceMessage(everyone));
  }

  #tellPresence(update: Uint8Array): void {
    this.tell(presenceMessage(update));
    this.#passPresence(update);
  }
}
