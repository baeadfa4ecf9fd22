import { readChannelFrame, writeChannelFrame } from "../src/wire/binary.ts";
import type { OpenChannel } from "../src/wire/client-asks.ts";
import { writeFrame } from "../src/wire/codec.ts";
import type { Channels } from "./channel/channels.ts";
import type { Ending, Seat } from "./channel/seat.ts";
import type { StateChannel } from "./channel/state-channel.ts";

export interface PeerChannelsOptions {
  readonly actor: string;
  readonly channels: Channels;
  readonly maxChannels: number;
  send(data: string | Uint8Array): void;
}

/** The channel numbers of one connection (rules P50, P51). */
export class PeerChannels {
  readonly #options: PeerChannelsOptions;
  readonly #open = new Map<number, { readonly seat: Seat; readonly channel: StateChannel }>();

  constructor(options: PeerChannelsOptions) {
    this.#options = options;
  }

  open({ channel: number, session, incarnation }: OpenChannel): void {
    const { actor, channels, maxChannels, send } = this.#options;
    if (this.#open.has(number)) {
      this.#tellClosed(number, { code: "malformed", message: "This channel number is open already" });
      return;
    }
    if (this.#open.size >= maxChannels) {
      const message = `The limit maxChannelsPerSocket is ${maxChannels}`;
      this.#tellClosed(number, { code: "limit-reached", message });
      return;
    }
    const seat: Seat = {
      incarnation,
      opened: () => send(writeFrame({ type: "channel-opened", channel: number })),
      send: (message) => send(writeChannelFrame(number, message)),
      ended: (reason) => {
        this.#open.delete(number);
        this.#tellClosed(number, reason);
      },
    };
    const channel = channels.at({ actor, session });
    // Joining may end the seat at once, so the number is taken first.
    this.#open.set(number, { seat, channel });
    channel.join(seat);
  }

  close(number: number): void {
    const open = this.#open.get(number);
    if (open === undefined) return;
    this.#open.delete(number);
    open.channel.leave(open.seat);
  }

  /** A binary frame. False when it is none; what comes for a channel that was just closed is let go. */
  received(bytes: Uint8Array): boolean {
    const frame = readChannelFrame(bytes);
    if (frame === undefined) return false;
    const open = this.#open.get(frame.channel);
    open?.channel.received(open.seat, frame.message);
    return true;
  }

  closeAll(): void {
    for (const number of [...this.#open.keys()]) this.close(number);
  }

  #tellClosed(channel: number, { code, message }: Ending): void {
    this.#options.send(writeFrame({ type: "channel-closed", channel, code, message }));
  }
}
