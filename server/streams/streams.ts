import type { Change, StreamChange } from "../bus/contract.ts";
import type { StreamSeat } from "./held-stream.ts";
import { type StreamHost, StreamRoom } from "./stream-room.ts";

/** The messages in the making of all actors that are here. Nothing of them is stored (rules P70–P79). */
export class Streams {
  readonly #host: StreamHost;
  readonly #rooms = new Map<string, StreamRoom>();

  constructor(host: StreamHost) {
    this.#host = host;
  }

  join(actor: string, seat: StreamSeat): StreamRoom {
    const room = this.#rooms.get(actor) ?? new StreamRoom(actor, this.#host, () => this.#rooms.delete(actor));
    this.#rooms.set(actor, room);
    room.join(seat);
    return room;
  }

  leave(actor: string, seat: StreamSeat): void {
    this.#rooms.get(actor)?.leave(seat);
  }

  heard(message: StreamChange): void {
    this.#rooms.get(message.actor)?.heard(message);
  }

  changed(change: Change): void {
    this.#rooms.get(change.actor)?.changed(change);
  }

  close(): void {
    for (const room of [...this.#rooms.values()]) room.close();
    this.#rooms.clear();
  }
}
