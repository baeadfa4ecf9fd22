import { createDecoder, readVarUint } from "lib0/decoding";
import { createEncoder, toUint8Array, writeVarUint } from "lib0/encoding";
import { readSyncMessage, writeSyncStep1, writeUpdate } from "y-protocols/sync";
import { Doc } from "yjs";
import { writeChannelFrame } from "../../src/wire/binary.ts";
import type { RawClient } from "./raw-client.ts";

/** What a y-websocket provider does, step by step, over one channel of a raw client. Stock when it has no channel. */
export class YjsClient {
  readonly doc = new Doc();
  readonly #client: RawClient;
  readonly #channel: number | undefined;
  #read = 0;
  durable = 0;
  presence: Uint8Array[] = [];

  constructor(client: RawClient, channel?: number) {
    this.#client = client;
    this.#channel = channel;
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.#say((encoder) => writeUpdate(encoder, update));
    });
  }

  get map(): ReturnType<Doc["getMap"]> {
    return this.doc.getMap("state");
  }

  sync(): void {
    this.#say((encoder) => writeSyncStep1(encoder, this.doc));
  }

  sendRaw(message: Uint8Array): void {
    this.#client.sayRaw(this.#channel === undefined ? message : writeChannelFrame(this.#channel, message));
  }

  /** Takes in what has come, and answers what it asks. */
  receive(): void {
    const came =
      this.#channel === undefined
        ? this.#client.bytes
        : this.#client.binary
            .filter(({ channel }) => channel === this.#channel)
            .map(({ message }) => message);
    for (const message of came.slice(this.#read)) {
      const decoder = createDecoder(message);
      const type = readVarUint(decoder);
      if (type === 64) this.durable = readVarUint(decoder);
      if (type === 1) this.presence.push(message);
      if (type !== 0) continue;
      const encoder = createEncoder();
      writeVarUint(encoder, 0);
      readSyncMessage(decoder, encoder, this.doc, this);
      const answer = toUint8Array(encoder);
      if (answer.byteLength > 1) this.sendRaw(answer);
    }
    this.#read = came.length;
  }

  #say(write: (encoder: ReturnType<typeof createEncoder>) => void): void {
    const encoder = createEncoder();
    writeVarUint(encoder, 0);
    write(encoder);
    this.sendRaw(toUint8Array(encoder));
  }
}
