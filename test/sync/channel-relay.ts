import { createDecoder, readVarUint, readVarUint8Array } from "lib0/decoding";
import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import {
  messageYjsSyncStep1,
  readSyncMessage,
  writeSyncStep1,
  writeSyncStep2,
  writeUpdate,
} from "y-protocols/sync";
import { Doc } from "yjs";
import { readChannelFrame, writeChannelFrame } from "../../src/wire/binary.ts";
import { CHANNEL_MESSAGE } from "../../src/wire/channel.ts";
import type { FaultCode } from "../../src/wire/fault.ts";
import type { Stage, Visit } from "./link-relay.ts";
import { welcoming } from "./link-relay.ts";

interface Seat {
  readonly visit: Visit;
  readonly channel: number;
  updates: number;
}

/**
 * The relay's side of channels for one session, made of y-protocols alone: one document in memory, what one brings goes to
 * the others. It acknowledges as durable at once, or when the test says.
 */
export class ChannelRelay {
  readonly doc = new Doc();
  readonly seats: Seat[] = [];
  readonly presence: Uint8Array[] = [];
  readonly closed: number[] = [];
  incarnation = "life 1";
  acknowledges = true;
  /** Asks for what it lacks as soon as a channel is open. */
  greets = true;

  constructor(on: Stage) {
    on.answer = (frame, visit) => {
      welcoming(frame, visit);
      if (frame.type === "close-channel") this.leave(visit, frame.channel);
      if (frame.type !== "open-channel") return;
      const { channel } = frame;
      if (frame.incarnation !== this.incarnation) {
        visit.say({ type: "channel-closed", channel, code: "deleted", message: "Gone" });
        return;
      }
      const seat: Seat = { visit, channel, updates: 0 };
      this.seats.push(seat);
      visit.say({ type: "channel-opened", channel });
      if (this.greets) this.greet(seat);
    };
    on.binary = (bytes, visit) => {
      const frame = readChannelFrame(bytes);
      const seat = this.seats.find((one) => one.visit === visit && one.channel === frame?.channel);
      if (frame !== undefined && seat !== undefined) this.#received(seat, frame.message);
    };
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      for (const seat of this.seats) {
        if (seat === origin) continue;
        this.#send(seat, (encoder) => {
          writeVarUint(encoder, CHANNEL_MESSAGE.sync);
          writeUpdate(encoder, update);
        });
      }
    });
  }

  greet(seat: Seat): void {
    this.#send(seat, (encoder) => {
      writeVarUint(encoder, CHANNEL_MESSAGE.sync);
      writeSyncStep1(encoder, this.doc);
    });
  }

  /** Everything that a seat brought so far is durable. */
  acknowledge(seat: Seat, updates = seat.updates): void {
    this.#send(seat, (encoder) => {
      writeVarUint(encoder, CHANNEL_MESSAGE.durable);
      writeVarUint(encoder, updates);
    });
  }

  end(seat: Seat, code: FaultCode): void {
    this.seats.splice(this.seats.indexOf(seat), 1);
    seat.visit.say({ type: "channel-closed", channel: seat.channel, code, message: "Closed" });
  }

  leave(visit: Visit, channel: number): void {
    const at = this.seats.findIndex((seat) => seat.visit === visit && seat.channel === channel);
    if (at >= 0) this.seats.splice(at, 1);
    this.closed.push(channel);
  }

  say(seat: Seat, message: Uint8Array): void {
    seat.visit.socket.send(writeChannelFrame(seat.channel, message));
  }

  #received(seat: Seat, message: Uint8Array): void {
    const decoder = createDecoder(message);
    const type = readVarUint(decoder);
    if (type === CHANNEL_MESSAGE.awareness) this.presence.push(readVarUint8Array(decoder));
    if (type !== CHANNEL_MESSAGE.sync) return;
    const answer = createEncoder();
    const kind = readSyncMessage(decoder, createEncoder(), this.doc, seat);
    if (kind === messageYjsSyncStep1) {
      const asked = createDecoder(message);
      readVarUint(asked);
      readVarUint(asked);
      writeVarUint(answer, CHANNEL_MESSAGE.sync);
      writeSyncStep2(answer, this.doc, readVarUint8Array(asked));
      this.say(seat, toUint8Array(answer));
      return;
    }
    seat.updates += 1;
    if (this.acknowledges) this.acknowledge(seat);
  }

  #send(seat: Seat, write: (encoder: ReturnType<typeof createEncoder>) => void): void {
    const encoder = createEncoder();
    write(encoder);
    this.say(seat, toUint8Array(encoder));
  }
}

export function awarenessMessage(update: Uint8Array): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, CHANNEL_MESSAGE.awareness);
  writeVarUint8Array(encoder, update);
  return toUint8Array(encoder);
}
