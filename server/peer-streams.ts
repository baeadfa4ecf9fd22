import type { Stream, StreamAsk, StreamEnd } from "../src/wire/stream.ts";
import type { Connection, RelayServices } from "./relay-services.ts";
import type { StreamSeat } from "./streams/held-stream.ts";
import type { StreamRoom } from "./streams/stream-room.ts";

/** What one connection writes and reads of messages in the making. */
export class PeerStreams {
  readonly #seat: StreamSeat;
  readonly #room: StreamRoom;
  readonly #connection: Connection;
  readonly #leave: () => void;

  constructor({ streams, limits }: RelayServices, actor: string, connection: Connection) {
    this.#connection = connection;
    this.#seat = {
      say: (text) => {
        // Durable changes need the room more: whoever reads slowly misses pieces, and asks for them.
        if (connection.bufferedBytes * 4 <= limits.maxBufferedBytes) connection.send(text);
      },
    };
    this.#room = streams.join(actor, this.#seat);
    this.#leave = () => streams.leave(actor, this.#seat);
  }

  take(frame: Stream | StreamEnd): void {
    if (frame.type === "stream") this.#room.write(this.#seat, frame);
    else this.#room.end(this.#seat, frame);
  }

  answer(frame: StreamAsk): void {
    for (const text of this.#room.asked(this.#seat, frame)) this.#connection.send(text);
  }

  leave(): void {
    this.#leave();
  }
}
