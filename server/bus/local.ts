import type { Bus, BusMember, BusMessage } from "./contract.ts";

/** A bus between the relays of one process. With one relay on it there is nobody to tell, and it costs nothing. */
export function localBus(): Bus {
  const members = new Set<LocalMember>();
  return {
    join: async (receive) => {
      const member = new LocalMember(members, receive);
      members.add(member);
      return member;
    },
  };
}

class LocalMember implements BusMember {
  readonly #all: Set<LocalMember>;
  readonly #receive: (message: BusMessage) => void;
  readonly #actors = new Set<string>();

  constructor(all: Set<LocalMember>, receive: (message: BusMessage) => void) {
    this.#all = all;
    this.#receive = receive;
  }

  watch(actor: string): void {
    this.#actors.add(actor);
  }

  unwatch(actor: string): void {
    this.#actors.delete(actor);
  }

  publish(message: BusMessage): void {
    for (const member of this.#all) {
      if (member !== this && member.#actors.has(message.actor)) member.#receive(message);
    }
  }

  async leave(): Promise<void> {
    this.#all.delete(this);
  }
}
