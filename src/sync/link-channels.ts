import { ProtocolError } from "../model/errors.ts";
import type { FaultCode } from "../wire/fault.ts";
import type { Link } from "./link.ts";
import type { LinkFrame } from "./link-events.ts";

/** What a channel hears. After `closed` it hears nothing more. */
export interface ChannelEvents {
  opened(): void;
  received(message: Uint8Array): void;
  /** Undefined: not by anybody's decision, the connection is gone. */
  closed(code: FaultCode | undefined): void;
}

/** One channel of the link's present connection (P50, P51). */
export interface Channel {
  /** A message over the limit of a frame is not sent: the channel closes as `too-large`. */
  send(message: Uint8Array): void;
  /** Ends it from this side; `closed` does not follow. */
  close(): void;
}

/** The channels of one link: gives them numbers, and brings each what is for it. */
export class LinkChannels {
  readonly #link: Link;
  readonly #open = new Map<number, ChannelEvents>();
  readonly #leave: () => void;
  #last = 0;

  constructor(link: Link) {
    this.#link = link;
    this.#leave = link.watch({
      frame: (frame) => this.#received(frame),
      binary: (number, message) => this.#eventsOf(number)?.received(message),
      offline: () => this.#end(),
    });
  }

  /** Asks the relay for a channel. Undefined while there is no connection. Events follow later. */
  open(
    about: { readonly session: string; readonly incarnation: string },
    events: ChannelEvents,
  ): Channel | undefined {
    const number = this.#last + 1;
    const asked = this.#link.send({ type: "open-channel", channel: number, ...about });
    if (asked !== "sent") return undefined;
    this.#last = number;
    this.#open.set(number, events);
    return {
      send: (message) => {
        if (!this.#open.has(number)) return;
        if (this.#link.sendBinary(number, message) !== "too-large") return;
        this.#close(number);
        events.closed("too-large");
      },
      close: () => this.#close(number),
    };
  }

  /** Channels that are opening or open. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends all channels as if the connection were gone, and hears nothing more. */
  close(): void {
    this.#leave();
    this.#end();
  }

  #received(frame: LinkFrame): void {
    if (frame.type === "channel-opened") this.#eventsOf(frame.channel)?.opened();
    if (frame.type !== "channel-closed") return;
    const events = this.#eventsOf(frame.channel);
    this.#open.delete(frame.channel);
    events?.closed(frame.code);
  }

  /** Undefined for a channel that was closed from this side: the relay had not yet heard of that. */
  #eventsOf(number: number): ChannelEvents | undefined {
    const events = this.#open.get(number);
    if (events === undefined && number > this.#last) {
      throw new ProtocolError(`The relay spoke of channel ${number}, which was never opened`);
    }
    return events;
  }

  #close(number: number): void {
    if (!this.#open.delete(number)) return;
    this.#link.send({ type: "close-channel", channel: number });
  }

  #end(): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const events of open) events.closed(undefined);
  }
}
